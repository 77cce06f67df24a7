// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package script

import (
	"errors"
	"math"
	"math/bits"
	"slices"
	"strconv"

	"github.com/benchrun-dev/benchrun/internal/workload"
)

// Value is the value of a variable. Decimals are finite.
type Value workload.Number

// append the value as a decimal number. A space separates a minus sign from what precedes it: together they could be a comment or
// another operator.
func (x Value) append(dst []byte) []byte {
	if x.Integer < 0 || math.Signbit(x.Decimal) {
		dst = append(dst, ' ')
	}
	if x.IsDecimal {
		return strconv.AppendFloat(dst, x.Decimal, 'g', -1, 64)
	}
	return strconv.AppendInt(dst, x.Integer, 10)
}

// Vars holds the values of one client's variables, which persist from one Run to the next. It is not safe for concurrent use.
type Vars struct {
	names         names
	values, stack []Value
}

// NewVars returns the variables of a new client. All are 0.
func (s *Script) NewVars() *Vars {
	return &Vars{names: s.names, values: make([]Value, len(s.names)), stack: make([]Value, s.height)}
}

// Set gives a variable a value. It panics if Compile knew no predefined variable of that name and the script sets none.
func (v *Vars) Set(name string, value int64) {
	v.values[slices.Index(v.names, name)] = Value{Integer: value}
}

// Value returns the value of the variable with an index from Statement.Args.
func (v *Vars) Value(index int) Value { return v.values[index] }

const (
	integerRange = "does not fit in a 64-bit integer"
	decimalRange = "exceeds the largest decimal, 1.8e308"
)

var (
	errDivisionByZero = errors.New("division by zero")
	errIntegerRange   = errors.New("the result " + integerRange)
	errDecimalRange   = errors.New("the result " + decimalRange)
	errOperandRange   = errors.New("an operand " + integerRange)
)

// compute is the implementation of an operator or a function. It does not allocate unless it fails.
type compute func(operands []Value, random *Random) (Value, error)

// operation is one step of an expression in postfix order. It pushes a value onto a stack: if compute is set, the result for the
// topmost operands, which it pops; otherwise the value of a variable, or a constant if variable is negative.
type operation struct {
	compute  compute
	operands int
	variable int
	constant Value
	// from and to are the position in the script of the part of the expression that this operation completes.
	from, to int
}

// evaluate leaves the value of an expression at the bottom of the stack. If an operation fails, it returns that and the error.
func (v *Vars) evaluate(operations []operation, random *Random) (*operation, error) {
	top := 0
	for i := range operations {
		o := &operations[i]
		switch {
		case o.compute != nil:
			top -= o.operands
			value, err := o.compute(v.stack[top:top+o.operands], random)
			if err != nil {
				return o, err
			}
			v.stack[top] = value
		case o.variable >= 0:
			v.stack[top] = v.values[o.variable]
		default:
			v.stack[top] = o.constant
		}
		top++
	}
	return nil, nil
}

func (x Value) decimal() float64 {
	if x.IsDecimal {
		return x.Decimal
	}
	return float64(x.Integer)
}

// integers returns the first two operands. Like pgbench, it rounds decimals to the nearest integer, and halves to the even one.
func integers(x []Value) (a, b int64, err error) {
	var both [2]int64
	for i := range both {
		if both[i] = x[i].Integer; !x[i].IsDecimal {
			continue
		}
		rounded := math.RoundToEven(x[i].Decimal)
		if rounded < -0x1p63 || rounded >= 0x1p63 {
			return 0, 0, errOperandRange
		}
		both[i] = int64(rounded)
	}
	return both[0], both[1], nil
}

// arithmetic computes a decimal if one of two operands is a decimal, otherwise an integer.
func arithmetic(integers func(a, b int64) (int64, bool), decimals func(a, b float64) float64) compute {
	return func(x []Value, _ *Random) (Value, error) {
		if x[0].IsDecimal || x[1].IsDecimal {
			result := decimals(x[0].decimal(), x[1].decimal())
			if math.IsInf(result, 0) {
				return Value{}, errDecimalRange
			}
			return Value{Decimal: result, IsDecimal: true}, nil
		}
		result, fits := integers(x[0].Integer, x[1].Integer)
		if !fits {
			return Value{}, errIntegerRange
		}
		return Value{Integer: result}, nil
	}
}

func larger(a, b int64) (int64, bool)  { return max(a, b), true }
func smaller(a, b int64) (int64, bool) { return min(a, b), true }

// A sum has wrapped around if its sign differs from the signs of both a and b.
func add(a, b int64) (sum int64, fits bool) { return a + b, (a^(a+b))&(b^(a+b)) >= 0 }

func subtract(a, b int64) (difference int64, fits bool) { return a - b, (a^b)&(a^(a-b)) >= 0 }

func multiply(a, b int64) (product int64, fits bool) {
	high, low := bits.Mul64(span(min(a, 0), max(a, 0)), span(min(b, 0), max(b, 0)))
	limit := uint64(math.MaxInt64)
	if (a < 0) != (b < 0) {
		limit++
	}
	return a * b, high == 0 && low <= limit
}

// The smallest integer has no positive counterpart.
func quotient(a, b int64) (truncated int64, fits bool) { return a / b, a != math.MinInt64 || b != -1 }

var quotients = arithmetic(quotient, func(a, b float64) float64 { return a / b })

func divide(x []Value, random *Random) (Value, error) {
	if x[1].decimal() == 0 {
		return Value{}, errDivisionByZero
	}
	return quotients(x, random)
}

// The result of modulo has the sign of the dividend.
func modulo(x []Value, _ *Random) (Value, error) {
	dividend, divisor, err := integers(x)
	switch {
	case err != nil:
		return Value{}, err
	case divisor == 0:
		return Value{}, errDivisionByZero
	}
	return Value{Integer: dividend % divisor}, nil
}

func negate(x []Value, _ *Random) (Value, error) {
	switch {
	case x[0].IsDecimal:
		return Value{Decimal: -x[0].Decimal, IsDecimal: true}, nil
	case x[0].Integer == math.MinInt64:
		return Value{}, errIntegerRange
	}
	return Value{Integer: -x[0].Integer}, nil
}

func absolute(x []Value, random *Random) (Value, error) {
	if x[0].Integer < 0 || x[0].Decimal < 0 {
		return negate(x, random)
	}
	return x[0], nil
}
