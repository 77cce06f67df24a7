// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package iibench

import (
	"fmt"
	"strings"

	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/workload/generate"
	"github.com/benchrun-dev/benchrun/internal/workload/insert"
)

const (
	schemaInsertBenchmark = "InsertBenchmark"
	schemaTokutek2008     = "Tokutek2008"
)

// purchases is a table of purchases as a publication has it: its columns, its indexes and how it writes a row.
type purchases struct {
	name, columns, options string
	indexes                []index
	head                   string
	// rowBytes bounds the text of a row in a statement with its comma.
	rowBytes int64
	// appendRow appends a row in parentheses, appendText the text that canonical is on the server.
	appendRow, appendText func(dst []byte, p purchase) []byte
	canonical             string
}

type index struct {
	name             string
	columns, leading string
	// Values of the leading column are appendLeading of numbers below span.
	span          uint64
	appendLeading func(dst []byte, value uint64) []byte
}

// indexOf a leading column and others, with the values of the first.
func indexOf(name, leading, others string, span uint64, appendLeading func(dst []byte, value uint64) []byte) index {
	return index{name: name, columns: leading + ", " + others, leading: leading, span: span, appendLeading: appendLeading}
}

func (x *index) definition() string { return fmt.Sprintf("KEY %s (%s)", x.name, x.columns) }

func (s *purchases) addIndexes(indexes []index) string {
	var add []string
	for i := range indexes {
		add = append(add, "ADD "+indexes[i].definition())
	}
	return "ALTER TABLE " + s.name + " " + strings.Join(add, ", ")
}

// table of those rows, without a name and without secondary indexes.
func (s *purchases) table(rows generate.Rows, engine string) insert.Table {
	return insert.Table{
		Columns: s.columns, Options: s.options, Engine: engine, Canonical: s.canonical,
		AppendText: func(dst []byte, n int64) []byte { return s.appendText(dst, purchaseOf(rows, n)) },
	}
}

var schemas = map[string]*purchases{schemaInsertBenchmark: insertBenchmark, schemaTokutek2008: tokutek2008}

const purchaseColumns = "dateandtime, cashregisterid, customerid, productid, price"

// insertBenchmark is the table of the insert benchmark as it is today. dateandtime is not the client's time but as in
// tokutek2008, so that the rows of a seed are always the same.
var insertBenchmark = &purchases{
	name: "purchases_index",
	columns: "transactionid BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, dateandtime DATETIME, cashregisterid INT NOT NULL," +
		" customerid INT NOT NULL, productid INT NOT NULL, price INT NOT NULL, data VARCHAR(4000)",
	indexes: []index{
		indexOf("purchases_index_marketsegment", "productid", "customerid, price", products, generate.AppendNumber),
		indexOf("purchases_index_registersegment", "cashregisterid", "customerid, price", cashRegisters, generate.AppendNumber),
		indexOf("purchases_index_pdc", "price", "dateandtime, customerid", prices, generate.AppendNumber),
	},
	head:     "INSERT INTO purchases_index (" + purchaseColumns + ", data) VALUES ",
	rowBytes: int64(len("('2010-01-01 00:00:00',999,99999,9999,499,'aaaaaaaRRR'),")),
	appendRow: func(dst []byte, p purchase) []byte {
		dst = append(p.appendIDs(append(dst, '('), "'", ','), ',')
		return append(p.appendData(append(generate.AppendNumber(dst, p.price), ",'"...)), "')"...)
	},
	appendText: func(dst []byte, p purchase) []byte {
		dst = append(p.appendIDs(dst, "", ':'), ':')
		return p.appendData(append(generate.AppendNumber(dst, p.price), ':'))
	},
	canonical: "CONCAT_WS(':', dateandtime, cashregisterid, customerid, productid, price, data)",
}

// tokutek2008 is the table of the contest. Prices are those of a customer's range: customerid/100 and up to 4.99.
var tokutek2008 = &purchases{
	name: "mypurchases",
	columns: "transactionid INT NOT NULL AUTO_INCREMENT, dateandtime DATETIME DEFAULT NULL, cashregisterid INT NOT NULL," +
		" customerid INT NOT NULL, productid INT NOT NULL, price FLOAT NOT NULL, PRIMARY KEY (transactionid)",
	options: "DEFAULT CHARSET=latin1",
	indexes: []index{
		indexOf("marketsegment", "price", "customerid", customers+prices, appendCents),
		indexOf("registersegment", "cashregisterid", "price, customerid", cashRegisters, generate.AppendNumber),
		indexOf("pdc", "price", "dateandtime, customerid", customers+prices, appendCents),
	},
	head:     "INSERT INTO mypurchases (" + purchaseColumns + ") VALUES ",
	rowBytes: int64(len("('2010-01-01 00:00:00',999,99999,9999,1004.98),")),
	appendRow: func(dst []byte, p purchase) []byte {
		dst = append(p.appendIDs(append(dst, '('), "'", ','), ',')
		return append(appendCents(dst, p.customer+p.price), ')')
	},
	appendText: func(dst []byte, p purchase) []byte {
		return generate.AppendNumber(append(p.appendIDs(dst, "", ':'), ':'), p.customer+p.price)
	},
	// A FLOAT has six or seven digits: the cents are exact.
	canonical: "CONCAT_WS(':', dateandtime, cashregisterid, customerid, productid, CAST(ROUND(price * 100) AS UNSIGNED))",
}

func (p *purchase) appendIDs(dst []byte, quote string, separator byte) []byte {
	dst = append(generate.AppendSecond(append(dst, quote...), p.second), quote...)
	for _, id := range [...]uint64{p.cashRegister, p.customer, p.product} {
		dst = generate.AppendNumber(append(dst, separator), id)
	}
	return dst
}

// appendData appends ten characters, of which the last ones are random: three quarters of half of them.
func (p *purchase) appendData(dst []byte) []byte {
	a, b := generate.PairText[p.noise>>32%uint64(generate.Pairs)], generate.PairText[p.noise&0xffffffff%uint64(generate.Pairs)]
	return append(append(dst, "aaaaaaa"...), a[0], a[1], b[0])
}

func appendCents(dst []byte, cents uint64) []byte {
	fraction := generate.TwoDigits[cents%100]
	return append(generate.AppendNumber(dst, cents/100), '.', fraction[0], fraction[1])
}

// contest2008 are the rules of the contest that made this benchmark known.
const contest2008 = "Contest2008"

// The contest's numbers.
const (
	contestRows             = 1_000_000_000
	contestRowsPerCommit    = 1000
	contestRowsPerStatement = 1000
	contestVersion          = "5.1."
)

func checkContest(p *Parameters) error {
	if p.AsPublished != contest2008 {
		return nil
	}
	all := len(tokutek2008.indexes)
	switch {
	case p.Table != schemaTokutek2008:
		return fmt.Errorf("asPublished %s: table is %s but must be %s", p.AsPublished, p.Table, schemaTokutek2008)
	case p.RowsPerCommit != contestRowsPerCommit:
		return fmt.Errorf("asPublished %s: rowsPerCommit is %d but must be %d", p.AsPublished, p.RowsPerCommit, contestRowsPerCommit)
	case p.RowsPerStatement > contestRowsPerStatement:
		return fmt.Errorf("asPublished %s: rowsPerStatement is %d but must be at most %d",
			p.AsPublished, p.RowsPerStatement, contestRowsPerStatement)
	case p.SecondaryIndexes != all || p.IndexesAt == indexesAtEnd:
		return fmt.Errorf("asPublished %s: the %d secondary indexes must exist from the start", p.AsPublished, all)
	case p.KeepRows > 0 || p.QueryClients > 0:
		return fmt.Errorf("asPublished %s: deletes and queries are not allowed", p.AsPublished)
	}
	return nil
}

// contestDeviations are what differs from the contest and cannot be made to fit, or cannot be seen from here.
func contestDeviations(p *Parameters, version string) []finding.Finding {
	var all []finding.Finding
	if p.Rows != contestRows {
		all = append(all, finding.OtherRows(contest2008, p.Rows, contestRows))
	}
	if !strings.HasPrefix(version, contestVersion) {
		all = append(all, finding.OtherServer(contest2008, version, contestVersion+"x"))
	}
	return append(all, finding.OtherHardware(contest2008))
}
