#!/usr/bin/env bash
# 01: A Pod of another namespace, without any credential, disturbs the observers of a run in slices.
# Attack: 2,000 TCP connections to port 9706 of each database Pod, each with 3.8 kB of a request's header that does not end.
# Must: connections are bounded before anything is read, strangers cannot reach the port (a policy that is made with the run), and
# the round goes on.
# shellcheck source=test/hostile/lib.sh
. "$(dirname "$0")/lib.sh"

kube create namespace "$OTHER" >/dev/null || end SETUP "no second namespace"
compare sl Slices 40 1
try 90 logged job/sl-t1-a1 measure || end SETUP "the run does not measure: $(ready brun/sl)"
read -r -d '' FLOOD <<-'PERL'
	use Socket; use Fcntl;
	my $end = time + 30;
	while (time < $end) {
	  my @s;
	  for my $host (@ARGV) {
	    my $ip = inet_aton($host) or next;
	    for (1..2000) {
	      socket(my $s, PF_INET, SOCK_STREAM, 0) or last;
	      fcntl($s, F_SETFL, O_NONBLOCK); connect($s, sockaddr_in(9706, $ip)); push @s, $s;
	    }
	  }
	  select(undef, undef, undef, 1);
	  syswrite($_, "GET / HTTP/1.1\r\nX: " . ("a" x 3800)) for @s;
	  select(undef, undef, undef, 3);
	}
PERL
kube -n "$OTHER" run flood --image=mariadb:11.8 --image-pull-policy=IfNotPresent --restart=Never --command -- \
	sh -c 'ulimit -n 20000 2>/dev/null; exec perl -e "$0" "$@"' "$FLOOD" \
	"sl-db1.$NS.svc" "sl-db2.$NS.svc" >/dev/null || end SETUP "no attacker"
observers() { k get pods -l benchrun.dev/component=database -o json | jq "[.items[].status.initContainerStatuses[]? | select(.name==\"observer\") | $1]"; }
killed() { [ "$(observers .restartCount | jq 'add // 0')" -gt 0 ]; }
invalidated() { k get brun sl -o json | jq '.status.trials.invalidated // 0'; }
disturbed() { [ "$(invalidated)" -gt 0 ]; }
either() { killed || disturbed; }
if try 55 either; then
	why=$(observers '.lastState.terminated.reason // empty' | jq -c .)
	sleep 5
	end BROKEN "a stranger's Pod ended observers ($why); attempts invalidated: $(invalidated); $(ready brun/sl)"
fi
end HELD "observers and round were not disturbed: $(ready brun/sl); the attacker: $(kube -n "$OTHER" get pod flood -o jsonpath='{.status.phase}')"
