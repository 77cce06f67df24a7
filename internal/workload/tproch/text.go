// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package tproch

import (
	"strconv"

	"github.com/benchrun-dev/benchrun/internal/workload/generate"
)

// textBytes is how much text comments are cut out of: more than enough for no two long ones to be the same by chance
// often, and little enough to be made within milliseconds and to stay in the CPU's cache.
const textBytes = 1 << 20

// Sentences are made of words of these kinds.
var (
	nouns = []string{
		"accounts", "anchors", "bridges", "cargo", "carriers", "crates", "customs papers", "deliveries", "demands",
		"estimates", "forecasts", "freight", "gardens", "harbours", "invoices", "ledgers", "lorries", "markets", "notes",
		"orchards", "packets", "pallets", "parcels", "prices", "receipts", "returns", "samples", "shelves", "shipments",
		"stocks", "tariffs", "warehouses",
	}
	verbs = []string{
		"arrive", "cross", "doze", "follow", "gather", "grow", "hold", "hurry", "leave", "linger", "move", "pass", "rest",
		"return", "roll", "settle", "shrink", "sit", "stand", "travel", "turn", "vanish", "wait", "wander",
	}
	adjectives = []string{
		"brittle", "busy", "calm", "careful", "dusty", "early", "empty", "even", "express", "faint", "final", "heavy",
		"idle", "late", "light", "narrow", "odd", "open", "ordinary", "patient", "plain", "quick", "quiet", "regular",
		"sealed", "slow", "special", "sturdy", "unusual", "urgent", "weekly", "wet",
	}
	adverbs = []string{
		"again", "always", "barely", "calmly", "carefully", "daily", "evenly", "gladly", "hardly", "later", "mostly",
		"never", "often", "quickly", "quietly", "rarely", "slowly", "soon", "steadily", "twice",
	}
	prepositions = []string{
		"above", "across", "after", "along", "among", "around", "before", "behind", "below", "beside", "between", "beyond",
		"despite", "near", "past", "through", "towards", "under", "until", "without",
	}
)

// sentences are patterns of kinds of words, each as often as it is listed.
var sentences = [][][]string{
	{adjectives, nouns, verbs, adverbs},
	{adjectives, nouns, verbs, prepositions, adjectives, nouns},
	{adjectives, nouns, verbs, prepositions, adjectives, nouns},
	{nouns, adverbs, verbs, prepositions, nouns},
	{nouns, verbs},
}

func newText(key uint64) []byte {
	draw := generate.At(key, 0)
	text := make([]byte, 0, textBytes+256)
	for len(text) < textBytes {
		for i, kind := range sentences[draw.Below(uint64(len(sentences)))] {
			if i > 0 {
				text = append(text, ' ')
			}
			text = append(text, pick(&draw, kind)...)
		}
		text = append(text, ". "...)
	}
	return text[:textBytes]
}

// appendComment appends a piece of text of low to high characters. It may begin and end within a word.
func (d *Data) appendComment(dst []byte, draw *generate.Stream, low, high int64) []byte {
	begin, length := draw.Between(0, textBytes-high-1), draw.Between(low, high)
	return append(append(dst, d.text[begin:begin+length]...), separator)
}

func pick(draw *generate.Stream, list []string) string { return list[draw.Below(uint64(len(list)))] }

const separator = '|'

// ended is a line whose last field was appended.
func ended(dst []byte) []byte {
	dst[len(dst)-1] = '\n'
	return dst
}

func appendWord(dst []byte, word string) []byte { return append(append(dst, word...), separator) }

// appendWords appends a word of each list, with spaces between them.
func appendWords(dst []byte, draw *generate.Stream, lists ...[]string) []byte {
	for _, list := range lists {
		dst = append(append(dst, pick(draw, list)...), ' ')
	}
	dst[len(dst)-1] = separator
	return dst
}

func appendNumbered(dst []byte, name string, n int64) []byte {
	return append(appendDigits(append(dst, name...), n, 9), separator)
}

// addressAlphabet has 64 characters: six bits of a number choose one.
const addressAlphabet = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ, "

func appendAddress(dst []byte, draw *generate.Stream) []byte {
	const perDraw = 10
	for left := draw.Between(10, 40); left > 0; left -= perDraw {
		x := draw.Next()
		for range min(left, perDraw) {
			dst = append(dst, addressAlphabet[x%64])
			x /= 64
		}
	}
	return append(dst, separator)
}

// appendPhone appends a number of 15 characters whose country is the nation's.
func appendPhone(dst []byte, draw *generate.Stream, nation int64) []byte {
	dst = append(appendDigits(dst, nation+10, 2), '-')
	dst = append(appendDigits(dst, draw.Between(100, 999), 3), '-')
	dst = append(appendDigits(dst, draw.Between(100, 999), 3), '-')
	return append(appendDigits(dst, draw.Between(1000, 9999), 4), separator)
}

func appendDigits(dst []byte, n int64, digits int) []byte {
	end := len(dst) + digits
	dst = append(dst, "000000000"[:digits]...)
	for i := end - 1; n > 0; i-- {
		dst[i] = byte('0' + n%10)
		n /= 10
	}
	return dst
}

func appendInt(dst []byte, n int64) []byte { return append(strconv.AppendInt(dst, n, 10), separator) }

func appendCents(dst []byte, cents int64) []byte {
	if cents < 0 {
		dst, cents = append(dst, '-'), -cents
	}
	dst = strconv.AppendInt(dst, cents/100, 10)
	return append(dst, '.', byte('0'+cents/10%10), byte('0'+cents%10), separator)
}

type order struct {
	key, items, day int64
	// draw goes on with what only ORDERS needs.
	draw generate.Stream
}

func (d *Data) orderAt(n int64) order {
	o := order{key: orderKey(n + 1), draw: generate.At(d.keys[Orders], n)}
	o.items = o.draw.Between(1, maxItems)
	o.day = o.draw.Between(firstOrderDay, lastOrderDay)
	return o
}

// orderKey is sparse: eight keys of each 32 are used.
func orderKey(n int64) int64 { return n>>3<<5 | n&7 }

// customerOf draws the key of a customer who orders: one in three never does.
func (d *Data) customerOf(draw *generate.Stream) int64 {
	x := draw.Between(0, d.Units(Customer)/3*2-1)
	return x/2*3 + x%2 + 1
}

const maxItems = 7

type item struct {
	part, quantity, discount, tax, price, shipped int64
	// draw goes on with what only LINEITEM needs.
	draw generate.Stream
}

func (d *Data) itemAt(n, i, orderDay int64) item {
	it := item{draw: generate.At(d.keys[LineItem], n*maxItems+i)}
	it.part = it.draw.Between(1, d.Units(Part))
	it.quantity = it.draw.Between(1, 50)
	it.discount = it.draw.Between(0, 10)
	it.tax = it.draw.Between(0, 8)
	it.price = it.quantity * retailPrice(it.part)
	it.shipped = orderDay + it.draw.Between(1, 121)
	return it
}

func (i *item) final() bool { return i.shipped <= currentDay }

// sums are what an order's items make: its price in hundredths, and whether all of them were shipped (F), none (O) or
// some (P).
func (d *Data) sums(n int64, o *order) (price int64, status byte) {
	// In millionths of the currency, so that it is rounded once.
	total, done := int64(0), int64(0)
	for i := range o.items {
		it := d.itemAt(n, i, o.day)
		total += it.price * (100 - it.discount) * (100 + it.tax)
		if it.final() {
			done++
		}
	}
	price = (total + 5000) / 10000
	switch done {
	case 0:
		return price, 'O'
	case o.items:
		return price, 'F'
	}
	return price, 'P'
}

func (d *Data) order(dst []byte, n int64) []byte {
	o := d.orderAt(n)
	price, status := d.sums(n, &o)
	dst = appendDate(dst, o.day)
	dst = appendInt(dst, o.key)
	dst = appendInt(dst, d.customerOf(&o.draw))
	dst = appendWord(dst, pick(&o.draw, priorities))
	dst = appendNumbered(dst, "0|Clerk#", o.draw.Between(1, 10*int64(d.scale)))
	dst = append(dst, status, separator)
	dst = appendCents(dst, price)
	return ended(d.appendComment(dst, &o.draw, 19, 78))
}

func (d *Data) lineItems(dst []byte, n int64) []byte {
	o := d.orderAt(n)
	for i := range o.items {
		it := d.itemAt(n, i, o.day)
		draw := &it.draw
		receipt := it.shipped + draw.Between(1, 30)
		returned, status := byte('N'), byte('O')
		if receipt <= currentDay {
			returned = "RA"[draw.Below(2)]
		}
		if it.final() {
			status = 'F'
		}
		dst = appendDate(dst, it.shipped)
		dst = appendInt(dst, o.key)
		dst = appendCents(dst, it.discount)
		dst = appendCents(dst, it.price)
		dst = appendInt(dst, d.supplierOf(it.part, draw.Between(0, suppliersPerPart-1)))
		dst = appendInt(dst, it.quantity)
		dst = append(dst, returned, separator)
		dst = appendInt(dst, it.part)
		dst = append(dst, status, separator)
		dst = appendCents(dst, it.tax)
		dst = appendDate(dst, o.day+draw.Between(30, 90))
		dst = appendDate(dst, receipt)
		dst = appendWord(dst, pick(draw, shipModes))
		dst = appendInt(dst, i+1)
		dst = appendWord(dst, pick(draw, instructs))
		dst = ended(d.appendComment(dst, draw, 10, 43))
	}
	return dst
}
