#!/usr/bin/env bash
# 14: A Pod with three labels gets the connections of somebody else's run.
# Attack (same namespace; create Pods is enough): three Pods with the run's UID, component and instance as labels that accept on ports
# 3306 and 9706 and say nothing.
# Must: the loader reaches the Pod that the operator knows (by its address or its own name), or notices that it does not.
# shellcheck source=test/hostile/lib.sh
. "$(dirname "$0")/lib.sh"

run victim "$ID" 4 'repetitions: 4'
try 70 logged job/victim-t1-a1 measure || end SETUP "it does not measure: $(ready brun/victim)"
U=$(k get brun victim -o jsonpath='{.metadata.uid}')
read -r -d '' HOLD <<-'PERL'
	use Socket;
	for my $p (3306, 9706) {
	  next if fork;
	  socket(S, PF_INET, SOCK_STREAM, 0); setsockopt(S, SOL_SOCKET, SO_REUSEADDR, 1);
	  bind(S, sockaddr_in($p, INADDR_ANY)) or die; listen(S, 99);
	  my @c; while (accept(my $c, S)) { push @c, $c }
	}
	sleep 600;
PERL
for i in 1 2 3; do
	k run "thief-$i" --image=mariadb:11.8 --image-pull-policy=IfNotPresent --restart=Never \
		--labels="benchrun.dev/run-uid=$U,benchrun.dev/component=database,benchrun.dev/instance=1" --command -- perl -e "$HOLD" >/dev/null ||
		end SETUP "no Pod"
done
addresses() { k get endpointslices -l kubernetes.io/service-name=victim-db1 -o json | jq '[.items[].endpoints[]?.addresses[]] | length'; }
joined() { [ "$(addresses)" -gt 1 ]; }
try 30 joined
most=$(addresses)
over() { is brun/victim Finished; }
try $((155 - SECONDS)) over
invalid=$(k get configmaps -l benchrun.dev/run=victim,benchrun.dev/component=attempt -o json | jq '[.items[] | select(.metadata.labels["benchrun.dev/outcome"] != "Accepted")] | length')
if is brun/victim Complete && [ "$invalid" -eq 0 ]; then end HELD "Complete, nothing invalidated; addresses of the run's Service: $most"; fi
end BROKEN "the run's Service has $most addresses; $(k get brun victim -o jsonpath='{.status.progress}'), attempts that do not count: $invalid; $(ready brun/victim)"
