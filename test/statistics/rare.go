// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// secondsOfTrial is what each variant measures in a round, and secondsOfSlice how long its turns are.
const secondsOfTrial, secondsOfSlice = 6.0, 0.5

// rare are stalls of the variant alone that most rounds do not show: how often the two are said to be equal, if that is said
// after so many rounds at least.
func (w *writer) rare() {
	floors := []int{6, 8, 10}
	header := []string{"stalls of the variant", "its loss in the mean"}
	for _, floor := range floors {
		header = append(header, fmt.Sprintf("Slices, from %d rounds", floor))
	}
	w.header("rare", "Rare stalls of one variant: said to be equal within 5%", append(header, "Runs, from 10 rounds")...)
	for _, s := range []stalling{
		{name: "halves its rate in 5% of the rounds", rounds: 0.05},
		{name: "halves its rate in 10% of the rounds", rounds: 0.10},
		{name: "stands still for 1 s every 30 s on average", every: 30, lasts: 1},
		{name: "stands still for 1 s every 15 s on average", every: 15, lasts: 1},
		{name: "stands still for 3 s every 60 s on average", every: 60, lasts: 3},
		{name: "halves its rate in 10% of the slices", slices: 0.10},
	} {
		cells := []string{s.name, percent(s.loss())}
		for _, floor := range floors {
			cells = append(cells, percent(w.run(s.experiment(true, floor)).Equal))
		}
		w.row(append(cells, percent(w.run(s.experiment(false, 10)).Equal))...)
	}
}

// stalling is how a variant stalls: in a share of its rounds or slices, or for some seconds now and then.
type stalling struct {
	name           string
	rounds, slices float64
	every, lasts   float64
}

// loss of the rate in the mean.
func (s stalling) loss() float64 {
	if s.every > 0 {
		return s.lasts / s.every
	}
	return (s.rounds + s.slices) / 2
}

func (s stalling) experiment(alternating bool, floor int) Experiment {
	n := normal(0.01)
	n.Ratio = func(r *rand.Rand, rounds int) []float64 {
		list := make([]float64, rounds)
		for i := range list {
			list[i] = math.Log(max(0.01, 1-s.lost(r, alternating)))
		}
		return list
	}
	return Experiment{Design: asShipped(1), Noise: n, Points: 1, EqualFrom: floor}
}

// lost is the share of a trial that is lost. A trial whose slices take turns with the other variant's takes twice the time, of
// which the variant's own slices are half: it meets twice as many stalls, and loses half of each.
func (s stalling) lost(r *rand.Rand, alternating bool) float64 {
	lost := 0.0
	if r.Float64() < s.rounds {
		lost += 0.5
	}
	turns := turnsOfTrial(r, alternating)
	for range int(secondsOfTrial / secondsOfSlice) {
		if r.Float64() < s.slices {
			lost += 0.5 * secondsOfSlice / secondsOfTrial
		}
	}
	if s.every > 0 {
		end := turns[len(turns)-1][1]
		for begin := s.every*r.ExpFloat64() - s.lasts; begin < end; begin += s.lasts + (s.every-s.lasts)*r.ExpFloat64() {
			for _, turn := range turns {
				lost += max(0, min(turn[1], begin+s.lasts)-max(turn[0], begin)) / secondsOfTrial
			}
		}
	}
	return lost
}

// turnsOfTrial are the variant's, from when to when.
func turnsOfTrial(r *rand.Rand, alternating bool) [][2]float64 {
	if !alternating {
		return [][2]float64{{0, secondsOfTrial}}
	}
	var turns [][2]float64
	for begin := 0.0; len(turns) < int(secondsOfTrial/secondsOfSlice); begin += 2 * secondsOfSlice {
		from := begin + secondsOfSlice*float64(r.IntN(2))
		turns = append(turns, [2]float64{from, from + secondsOfSlice})
	}
	return turns
}
