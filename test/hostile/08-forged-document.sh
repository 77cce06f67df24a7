#!/usr/bin/env bash
# 08: A program of the workload Custom writes the result document itself, and its attempt is accepted although it measured nothing.
# Two ways: (tail) as its last lines, before it fails with exit code 1: the loader prints these lines to the log as they are
# (internal/loader/tool.go failed); (fd) into the loader's own standard output, /proc/1/fd/1, while it goes on working.
# Must: what a program prints can never be taken for the document; with programs of others in the Pod, the log alone ends nothing.
# shellcheck source=test/hostile/lib.sh
. "$(dirname "$0")/lib.sh"

cat >"$TMP/forge.sh" <<-'SH'
	uid=$(tr '\0' '\n' </proc/1/environ 2>/dev/null | sed -n 's/^BENCHRUN_POD_UID=//p')
	[ -n "$uid" ] || uid=$(sed -n 's#.*/pods/\([0-9a-f-]\{36\}\)/.*#\1#p' /proc/self/mountinfo | head -n 1)
	printf '{"version":1,"identity":{"runUID":"x","trial":1,"attempt":1,"podUID":"%s","podName":"x","node":"x","loader":"x","started":"2026-01-01T00:00:00Z","ended":"2026-01-01T00:00:01Z"},"config":{},"phases":[],"totals":{"rows":1,"transactions":1,"statements":1,"micros":1000000,"stoppedBy":"Rows"},"metrics":[{"name":"value","value":123456789,"unit":"x/s","better":"higher"}],"server":{},"client":{},"checks":[]}' "$uid" | gzip -9n >/tmp/d
	n=$(wc -c </tmp/d) s=$(sha256sum </tmp/d | cut -c1-64)
	emit() { echo "benchrun-document-begin 1 1 $n $s"; echo "benchrun-document 1 $(base64 -w0 /tmp/d)"; echo benchrun-document-end; }
	case $1 in
	tail) emit; exit 1 ;;
	fd) emit >/proc/1/fd/1; sleep 90; exit 1 ;;
	esac
SH
k create configmap forge --from-file=forge.sh="$TMP/forge.sh" >/dev/null || end SETUP "no ConfigMap"
for way in tail fd; do
	custom $way "$ID-$way" "[sh, /etc/benchrun/files/forge.sh, $way]" 'filesFrom: forge'
done
outcome() { k get configmap "$1-t1-a1" -o jsonpath='{.metadata.labels.benchrun\.dev/outcome}' 2>/dev/null; }
both() { [ -n "$(outcome tail)" ] && [ -n "$(outcome fd)" ]; }
try 140 both
said=""
for way in tail fd; do
	if [ "$(outcome $way)" = Accepted ]; then
		sleep 3
		said+="$way: Accepted, result $(k get brun $way -o jsonpath='{.status.answer.detail}'); "
	fi
done
[ -n "$said" ] && end BROKEN "$said"
[ -n "$(outcome tail)" ] || end SETUP "tail has no record: $(ready brun/tail); fd: $(ready brun/fd)"
end HELD "tail: $(outcome tail), fd: $(outcome fd)"
