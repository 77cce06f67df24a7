// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"

	"github.com/benchrun-dev/benchrun/internal/result"
)

// python inserts and commits through a cursor, as people write it.
func python(_ string, w result.Workload) program {
	return func(ctx context.Context, b *bench) (sample, error) {
		if err := b.emptyTables(ctx, w); err != nil {
			return sample{}, err
		}
		const script = `
import MySQLdb, random, string, sys
rows, size = int(sys.argv[1]), int(sys.argv[2])
db = MySQLdb.connect(read_default_file="/bench/my.cnf", db="` + schema + `")
cursor = db.cursor()
for n in range(1, rows + 1):
    data = "".join(random.choices(string.ascii_uppercase + string.digits, k=20))
    cursor.execute("INSERT INTO demo (id, data) VALUES (%s, %s)", (n, data))
    if n % size == 0 or n == rows:
        db.commit()
`
		l, err := read(w)
		if err != nil {
			return sample{}, err
		}
		s, _, err := b.timed(ctx, l.rows, fmt.Sprintf("python3 - %d %d <<'SCRIPT'%sSCRIPT", l.rows, l.perCommit, script))
		return s, err
	}
}

// pythonPurchases inserts as the insert benchmark's program does: one process draws the rows and makes statements, another one
// sends them, and at most eight wait between the two.
func pythonPurchases(w result.Workload) program {
	return func(ctx context.Context, b *bench) (sample, error) {
		if err := b.emptyTables(ctx, w); err != nil {
			return sample{}, err
		}
		const script = `
import MySQLdb, datetime, multiprocessing, random, sys
rows, size = int(sys.argv[1]), int(sys.argv[2])
letters = "".join(random.choices("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789", k=1 << 20))

def make(queue):
    for first in range(0, rows, size):
        now = datetime.datetime.now().strftime("%Y-%m-%d %H:%M:%S")
        values = []
        for _ in range(min(size, rows - first)):
            at = random.randrange(len(letters) - 3)
            values.append("('%s',%d,%d,%d,%d,'aaaaaaa%s')" % (now, random.randrange(1000), random.randrange(100000),
                random.randrange(10000), random.randrange(500), letters[at:at + 3]))
        queue.put("INSERT INTO purchases_index (dateandtime, cashregisterid, customerid, productid, price, data) VALUES " +
            ",".join(values))
    queue.put(None)

queue = multiprocessing.Queue(8)
maker = multiprocessing.Process(target=make, args=(queue,))
maker.start()
db = MySQLdb.connect(read_default_file="/bench/my.cnf", db="` + schema + `", autocommit=True)
cursor = db.cursor()
while (statement := queue.get()) is not None:
    cursor.execute(statement)
maker.join()
`
		l, err := read(w)
		if err != nil {
			return sample{}, err
		}
		s, _, err := b.timed(ctx, l.rows, fmt.Sprintf("python3 - %d %d <<'SCRIPT'%sSCRIPT", l.rows, l.perCommit, script))
		return s, err
	}
}
