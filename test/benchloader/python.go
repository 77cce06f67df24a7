// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
)

// python inserts and commits through a cursor, as people write it.
func python(_ string, w inserts) program {
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
	return func(ctx context.Context, b *bench) (sample, error) {
		return b.insert(ctx, w, fmt.Sprintf("python3 - %d %d <<'SCRIPT'%sSCRIPT", w.rows, w.perCommit, script))
	}
}

// pythonPurchases inserts as the insert benchmark's program does: one process draws the rows and makes statements, another one
// sends them, and at most eight wait between the two (purchasesScript).
func pythonPurchases(w inserts) program {
	return func(ctx context.Context, b *bench) (sample, error) {
		return b.insert(ctx, w,
			fmt.Sprintf("python3 - %s insert %d %d 0 <<'SCRIPT'%sSCRIPT", w.table, w.rows, w.perCommit, purchasesScript))
	}
}

// purchasesScript inserts into a table, with a process that draws the rows, one that sends them and maybe one that deletes as
// many of the oldest; or it queries. It prints what it has done.
const purchasesScript = `
import MySQLdb, datetime, multiprocessing, random, resource, sys, time
table = sys.argv[1]
letters = "".join(random.choices("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789", k=1 << 20))
indexes = {
    "purchases_index_marketsegment": ("productid, customerid, price", "productid", 10000),
    "purchases_index_registersegment": ("cashregisterid, customerid, price", "cashregisterid", 1000),
    "purchases_index_pdc": ("price, dateandtime, customerid", "price", 500),
}

def connect():
    return MySQLdb.connect(read_default_file="/bench/my.cnf", db="` + schema + `", autocommit=True).cursor()

def make(queue, rows, size):
    for first in range(0, rows, size):
        now = datetime.datetime.now().strftime("%Y-%m-%d %H:%M:%S")
        values = []
        for _ in range(min(size, rows - first)):
            at = random.randrange(len(letters) - 3)
            values.append("('%s',%d,%d,%d,%d,'aaaaaaa%s')" % (now, random.randrange(1000), random.randrange(100000),
                random.randrange(10000), random.randrange(500), letters[at:at + 3]))
        queue.put("INSERT INTO " + table + " (dateandtime, cashregisterid, customerid, productid, price, data) VALUES " +
            ",".join(values))
    queue.put(None)

def delete(inserted, size):
    cursor, deleted = connect(), 0
    while inserted.get() is not None:
        cursor.execute("DELETE FROM %s WHERE transactionid > %d ORDER BY transactionid LIMIT %d" % (table, deleted, size))
        deleted += size

def insert(rows, size, deletes):
    queue, inserted = multiprocessing.Queue(8), multiprocessing.Queue(8)
    others = [multiprocessing.Process(target=make, args=(queue, rows, size))]
    if deletes:
        others.append(multiprocessing.Process(target=delete, args=(inserted, size)))
    for p in others:
        p.start()
    cursor = connect()
    while (statement := queue.get()) is not None:
        cursor.execute(statement)
        if deletes:
            inserted.put(size)
    inserted.put(None)
    for p in others:
        p.join()
    return rows

def query(seconds, by):
    cursor, done, end = connect(), 0, time.monotonic() + seconds
    names = list(indexes)
    while time.monotonic() < end:
        if by == "row":
            cursor.execute("SELECT * FROM %s WHERE transactionid = %d" % (table, random.randrange(100000) + 1))
        else:
            name = random.choice(names)
            columns, leading, span = indexes[name]
            cursor.execute("SELECT %s FROM %s FORCE INDEX (%s) WHERE %s >= %d ORDER BY %s LIMIT 10" %
                (columns, table, name, leading, random.randrange(span), columns))
        cursor.fetchall()
        done += 1
    return done

def cpu():
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime for u in used), sum(u.ru_stime for u in used)

# What the interpreter needs to start belongs to no operation.
began, (user, kernel) = time.monotonic(), cpu()
if sys.argv[2] == "insert":
    done = insert(int(sys.argv[3]), int(sys.argv[4]), sys.argv[5] == "1")
else:
    done = query(int(sys.argv[3]), sys.argv[4])
took, after = time.monotonic() - began, cpu()
print("operations %d in %f s, CPU %f s and %f s in the kernel" % (done, took, after[0] - user, after[1] - kernel))
`
