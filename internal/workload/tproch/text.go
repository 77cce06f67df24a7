// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package tproch

import "github.com/benchrun-dev/benchrun/internal/workload/random"

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

// newText makes textBytes bytes of sentences.
func newText(key uint64) []byte {
	draw := random.At(key, 0)
	text := make([]byte, 0, textBytes+256)
	for len(text) < textBytes {
		for i, kind := range sentences[draw.Below(int64(len(sentences)))] {
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
func (d *Data) appendComment(dst []byte, draw *random.Stream, low, high int64) []byte {
	begin, length := draw.Below(textBytes-high), draw.Between(low, high)
	return append(dst, d.text[begin:begin+length]...)
}

// pick draws one of a list.
func pick(draw *random.Stream, list []string) string { return list[draw.Below(int64(len(list)))] }

// addressAlphabet has 64 characters: six bits of a number choose one.
const addressAlphabet = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ, "

// appendAddress appends 10 to 40 characters at random.
func appendAddress(dst []byte, draw *random.Stream) []byte {
	const perDraw = 10
	for left := draw.Between(10, 40); left > 0; left -= perDraw {
		x := draw.Next()
		for range min(left, perDraw) {
			dst = append(dst, addressAlphabet[x%64])
			x /= 64
		}
	}
	return dst
}

// appendPhone appends a number of 15 characters whose country is the nation's.
func appendPhone(dst []byte, draw *random.Stream, nation int64) []byte {
	dst = appendDigits(dst, nation+10, 2)
	dst = append(dst, '-')
	dst = appendDigits(dst, draw.Between(100, 999), 3)
	dst = append(dst, '-')
	dst = appendDigits(dst, draw.Between(100, 999), 3)
	dst = append(dst, '-')
	return appendDigits(dst, draw.Between(1000, 9999), 4)
}

// appendDigits appends n, which is not negative, with zeros before it to so many digits.
func appendDigits(dst []byte, n int64, digits int) []byte {
	end := len(dst) + digits
	dst = append(dst, "000000000"[:digits]...)
	for i := end - 1; n > 0; i-- {
		dst[i] = byte('0' + n%10)
		n /= 10
	}
	return dst
}

// appendInt appends n, which is not negative.
func appendInt(dst []byte, n int64) []byte {
	var digits [20]byte
	i := len(digits)
	for {
		i--
		digits[i] = byte('0' + n%10)
		if n /= 10; n == 0 {
			return append(dst, digits[i:]...)
		}
	}
}

// appendCents appends an amount in hundredths with two decimal places.
func appendCents(dst []byte, cents int64) []byte {
	if cents < 0 {
		dst, cents = append(dst, '-'), -cents
	}
	dst = appendInt(dst, cents/100)
	return append(dst, '.', byte('0'+cents/10%10), byte('0'+cents%10))
}
