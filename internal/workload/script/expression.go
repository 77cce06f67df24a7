// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package script

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	// maxNesting bounds the recursion of the parser, maxOperations the memory of a script's expressions.
	maxNesting    = 100
	maxOperations = 10_000
)

// binary operators. Those with a higher precedence bind more tightly.
var binary = map[rune]struct {
	precedence int
	compute    compute
}{
	'+': {1, arithmetic(add, func(a, b float64) float64 { return a + b })},
	'-': {1, arithmetic(subtract, func(a, b float64) float64 { return a - b })},
	'*': {2, arithmetic(multiply, func(a, b float64) float64 { return a * b })},
	'/': {2, divide},
	'%': {2, modulo},
}

// functions of the language. Those that fold take any number of arguments and compute with two at a time.
var functions = map[string]struct {
	takes   int
	folds   bool
	compute compute
}{
	"abs":                {takes: 1, compute: absolute},
	"greatest":           {folds: true, compute: arithmetic(larger, math.Max)},
	"least":              {folds: true, compute: arithmetic(smaller, math.Min)},
	"mod":                {takes: 2, compute: modulo},
	"random":             {takes: 2, compute: uniform},
	"random_exponential": {takes: 3, compute: exponential},
	"random_gaussian":    {takes: 3, compute: gaussian},
	"random_zipfian":     {takes: 3, compute: zipfian},
}

// Kinds of tokens. The kind of a symbol is the symbol itself.
const (
	end rune = -1 - iota
	number
	word
	variable
)

// parser compiles the expression between at and limit of a text to operations in postfix order.
type parser struct {
	text      string
	at, limit int
	names     names
	// kind and position of the next token; last is the end of the previous one.
	kind           rune
	from, to, last int
	operations     []operation
	// room is how many operations are allowed.
	room int
	// height of the stack after these operations, and the highest in between.
	height, highest, nesting int
	// err is the first error. It ends the tokens.
	err error
}

func (p *parser) fail(err error) {
	if p.err == nil {
		p.err = err
	}
	p.at, p.kind = p.limit, end
}

func (p *parser) next() {
	p.last = p.to
	p.at += blankLength(p.text[p.at:p.limit])
	rest, length := p.text[p.at:p.limit], 0
	switch {
	case rest == "":
		p.kind = end
	case numberLength(rest) > 0:
		p.kind, length = number, numberLength(rest)
	case nameLength(rest) > 0:
		p.kind, length = word, nameLength(rest)
	case rest[0] == ':' && nameLength(rest[1:]) > 0:
		p.kind, length = variable, 1+nameLength(rest[1:])
	default:
		p.kind, length = utf8.DecodeRuneInString(rest)
	}
	p.from, p.to = p.at, p.at+length
	p.at = p.to
}

func (p *parser) expect(kind rune, description string) {
	if p.kind == kind {
		p.next()
		return
	}
	found := "the end of the line"
	if p.kind != end {
		found = excerpt(p.text[p.from:p.to])
	}
	p.fail(failure(p.text, p.from, "expected %s, found %s", description, found))
}

func (p *parser) push(o operation) {
	if len(p.operations) == p.room {
		p.fail(failure(p.text, o.from, "the expressions of the script have more than %d operations", maxOperations))
		return
	}
	o.to = p.last
	p.operations = append(p.operations, o)
	p.height += 1 - o.operands
	p.highest = max(p.highest, p.height)
}

// expression parses operands, and the operators between them that bind more tightly than a precedence.
func (p *parser) expression(precedence int) {
	from := p.from
	p.operand()
	for {
		operator, ok := binary[p.kind]
		if !ok || operator.precedence <= precedence {
			return
		}
		p.next()
		p.expression(operator.precedence)
		p.push(operation{compute: operator.compute, operands: 2, from: from})
	}
}

func (p *parser) operand() {
	from := p.from
	if p.nesting++; p.nesting > maxNesting {
		p.fail(failure(p.text, from, "the expression is nested more than %d levels deep", maxNesting))
	}
	switch p.kind {
	case number:
		p.number("")
	case variable:
		index, err := p.names.find(p.text, from, p.text[from+1:p.to])
		if err != nil {
			p.fail(err)
		}
		p.next()
		p.push(operation{variable: index, from: from})
	case word:
		p.call()
	case '(':
		p.next()
		p.expression(0)
		p.expect(')', `an operator or ")"`)
	case '-':
		if p.next(); p.kind == number {
			p.number("-") // with its sign, because the smallest integer has no positive counterpart
			break
		}
		p.operand()
		p.push(operation{compute: negate, operands: 1, from: from})
	default:
		p.expect(number, `a number, a :variable, a function or "("`)
	}
	p.nesting--
}

func (p *parser) number(sign string) {
	text, from := sign+p.text[p.from:p.to], p.from
	constant := Value{IsDecimal: strings.ContainsAny(text, ".eE")}
	var err error
	reason := integerRange
	if constant.IsDecimal {
		reason = decimalRange
		constant.Decimal, err = strconv.ParseFloat(text, 64)
	} else {
		constant.Integer, err = strconv.ParseInt(text, 10, 64)
	}
	if err != nil {
		p.fail(failure(p.text, from, "%s %s", excerpt(text), reason))
	}
	p.next()
	p.push(operation{variable: -1, constant: constant, from: from})
}

func (p *parser) call() {
	name, from, arguments := p.text[p.from:p.to], p.from, 0
	f, known := functions[strings.ToLower(name)]
	if p.next(); p.kind != '(' {
		p.fail(failure(p.text, from, "%s is not a value; write :NAME for a variable, NAME(…) for a function", excerpt(name)))
	} else if !known {
		list := strings.Join(slices.Sorted(maps.Keys(functions)), ", ")
		p.fail(failure(p.text, from, "the function %s is unknown; the functions are %s", excerpt(name), list))
	}
	for more := true; more; more = p.kind == ',' {
		p.next()
		p.expression(0)
		if arguments++; f.folds && arguments > 1 {
			p.push(operation{compute: f.compute, operands: 2, from: from})
		}
	}
	p.expect(')', `an operator, "," or ")"`)
	if f.folds {
		return
	}
	if arguments != f.takes {
		p.fail(failure(p.text, from, "the number of arguments of %s is %d; it must be %d", strings.ToLower(name), arguments, f.takes))
		return
	}
	p.push(operation{compute: f.compute, operands: f.takes, from: from})
}
