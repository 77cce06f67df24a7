// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package tproch

import "github.com/benchrun-dev/benchrun/internal/workload/random"

var regionNames = [...]string{"AFRICA", "AMERICA", "ASIA", "EUROPE", "MIDDLE EAST"}

// nations by key, with their region's key.
var nations = [...]struct {
	name   string
	region int64
}{
	{"ALGERIA", 0},
	{"ARGENTINA", 1},
	{"BRAZIL", 1},
	{"CANADA", 1},
	{"EGYPT", 4},
	{"ETHIOPIA", 0},
	{"FRANCE", 3},
	{"GERMANY", 3},
	{"INDIA", 2},
	{"INDONESIA", 2},
	{"IRAN", 4},
	{"IRAQ", 4},
	{"JAPAN", 2},
	{"JORDAN", 4},
	{"KENYA", 0},
	{"MOROCCO", 0},
	{"MOZAMBIQUE", 0},
	{"PERU", 1},
	{"CHINA", 2},
	{"ROMANIA", 3},
	{"SAUDI ARABIA", 4},
	{"VIETNAM", 2},
	{"RUSSIA", 3},
	{"UNITED KINGDOM", 3},
	{"UNITED STATES", 1},
}

var (
	segments   = []string{"AUTOMOBILE", "BUILDING", "FURNITURE", "HOUSEHOLD", "MACHINERY"}
	priorities = []string{"1-URGENT", "2-HIGH", "3-MEDIUM", "4-NOT SPECIFIED", "5-LOW"}
	shipModes  = []string{"AIR", "FOB", "MAIL", "RAIL", "REG AIR", "SHIP", "TRUCK"}
	instructs  = []string{"COLLECT COD", "DELIVER IN PERSON", "NONE", "TAKE BACK RETURN"}
	typeSizes  = []string{"ECONOMY", "LARGE", "MEDIUM", "PROMO", "SMALL", "STANDARD"}
	typeCoats  = []string{"ANODIZED", "BRUSHED", "BURNISHED", "PLATED", "POLISHED"}
	typeMetals = []string{"BRASS", "COPPER", "NICKEL", "STEEL", "TIN"}
	boxSizes   = []string{"JUMBO", "LG", "MED", "SM", "WRAP"}
	boxKinds   = []string{"BAG", "BOX", "CAN", "CASE", "DRUM", "JAR", "PACK", "PKG"}
	// colours are the words of a part's name.
	colours = []string{
		"amber", "apricot", "ash", "azure", "beige", "black", "blue", "brick", "bronze", "brown", "buff", "carmine",
		"charcoal", "cherry", "cobalt", "copper", "coral", "cream", "crimson", "cyan", "ebony", "emerald", "fawn", "ginger",
		"golden", "granite", "green", "grey", "hazel", "indigo", "ivory", "jade", "lavender", "lemon", "lilac", "lime",
		"linen", "magenta", "mahogany", "maroon", "mauve", "mint", "mustard", "ochre", "olive", "orange", "orchid", "peach",
		"pearl", "pink", "plum", "purple", "red", "rose", "ruby", "russet", "saffron", "salmon", "sand", "sapphire",
		"scarlet", "sepia", "silver", "slate", "smoke", "tan", "teal", "topaz", "turquoise", "umber", "violet", "walnut",
		"wheat", "white", "yellow",
	}
)

// region makes a row of REGION.
func (d *Data) region(dst []byte, n int64) []byte {
	draw := random.At(d.keys[Region], n)
	dst = appendInt(dst, n)
	dst = append(dst, '|')
	dst = append(dst, regionNames[n]...)
	dst = append(dst, '|')
	dst = d.appendComment(dst, &draw, 31, 115)
	return append(dst, '\n')
}

// nation makes a row of NATION.
func (d *Data) nation(dst []byte, n int64) []byte {
	draw := random.At(d.keys[Nation], n)
	dst = appendInt(dst, n)
	dst = append(dst, '|')
	dst = append(dst, nations[n].name...)
	dst = append(dst, '|')
	dst = appendInt(dst, nations[n].region)
	dst = append(dst, '|')
	dst = d.appendComment(dst, &draw, 31, 114)
	return append(dst, '\n')
}

// supplier makes a row of SUPPLIER.
func (d *Data) supplier(dst []byte, n int64) []byte {
	draw := random.At(d.keys[Supplier], n)
	nation := draw.Below(int64(len(nations)))
	dst = appendInt(dst, n+1)
	dst = append(dst, '|')
	dst = appendInt(dst, nation)
	dst = append(dst, '|')
	dst = d.appendComment(dst, &draw, 25, 100)
	dst = append(dst, "|Supplier#"...)
	dst = appendDigits(dst, n+1, 9)
	dst = append(dst, '|')
	dst = appendAddress(dst, &draw)
	dst = append(dst, '|')
	dst = appendPhone(dst, &draw, nation)
	dst = append(dst, '|')
	dst = appendCents(dst, draw.Between(-999_99, 9999_99))
	return append(dst, '\n')
}

// customer makes a row of CUSTOMER.
func (d *Data) customer(dst []byte, n int64) []byte {
	draw := random.At(d.keys[Customer], n)
	dst = appendInt(dst, n+1)
	dst = append(dst, '|')
	dst = append(dst, pick(&draw, segments)...)
	dst = append(dst, '|')
	nation := draw.Below(int64(len(nations)))
	dst = appendInt(dst, nation)
	dst = append(dst, "|Customer#"...)
	dst = appendDigits(dst, n+1, 9)
	dst = append(dst, '|')
	dst = appendAddress(dst, &draw)
	dst = append(dst, '|')
	dst = appendPhone(dst, &draw, nation)
	dst = append(dst, '|')
	dst = appendCents(dst, draw.Between(-999_99, 9999_99))
	dst = append(dst, '|')
	dst = d.appendComment(dst, &draw, 29, 116)
	return append(dst, '\n')
}

// part makes a row of PART.
func (d *Data) part(dst []byte, n int64) []byte {
	draw := random.At(d.keys[Part], n)
	maker := draw.Between(1, 5)
	dst = appendInt(dst, n+1)
	dst = append(dst, '|')
	dst = append(dst, pick(&draw, typeSizes)...)
	dst = append(dst, ' ')
	dst = append(dst, pick(&draw, typeCoats)...)
	dst = append(dst, ' ')
	dst = append(dst, pick(&draw, typeMetals)...)
	dst = append(dst, '|')
	dst = appendInt(dst, draw.Between(1, 50))
	dst = append(dst, "|Brand#"...)
	dst = appendInt(dst, maker*10+draw.Between(1, 5))
	dst = append(dst, '|')
	for i := range 5 {
		if i > 0 {
			dst = append(dst, ' ')
		}
		dst = append(dst, pick(&draw, colours)...)
	}
	dst = append(dst, '|')
	dst = append(dst, pick(&draw, boxSizes)...)
	dst = append(dst, ' ')
	dst = append(dst, pick(&draw, boxKinds)...)
	dst = append(dst, "|Manufacturer#"...)
	dst = appendInt(dst, maker)
	dst = append(dst, '|')
	dst = appendCents(dst, retailPrice(n+1))
	dst = append(dst, '|')
	dst = d.appendComment(dst, &draw, 5, 22)
	return append(dst, '\n')
}

// retailPrice of a part in hundredths.
func retailPrice(part int64) int64 { return 900_00 + part/10%20001 + 100*(part%1000) }

const suppliersPerPart = 4

// supplierOf is the key of one of a part's four suppliers, i from 0 to 3. They are different ones at every scale.
func (d *Data) supplierOf(part, i int64) int64 {
	suppliers := d.Units(Supplier)
	return (part+i*(suppliers/suppliersPerPart+(part-1)/suppliers))%suppliers + 1
}

// partSupp makes a row of PARTSUPP.
func (d *Data) partSupp(dst []byte, n int64) []byte {
	draw := random.At(d.keys[PartSupp], n)
	part := n/suppliersPerPart + 1
	dst = appendInt(dst, part)
	dst = append(dst, '|')
	dst = appendInt(dst, d.supplierOf(part, n%suppliersPerPart))
	dst = append(dst, '|')
	// The column is a whole number: anything else would be rounded by the server, with a warning.
	dst = appendInt(dst, draw.Between(1, 1000))
	dst = append(dst, '|')
	dst = appendInt(dst, draw.Between(1, 9999))
	dst = append(dst, '|')
	dst = d.appendComment(dst, &draw, 49, 198)
	return append(dst, '\n')
}
