package plan_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/an-open-reader/nats-reader/chaos/plan"
)

// step is the beginning of a plan with one step of a fault, up to where the rest of it follows.
const step = "steps:\n  - when: {at: 1s}\n    fault: "

// Whatever is wrong with a plan is said in one line: where, what, and what would do.
func TestProblems(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		// what is no plan
		{"empty", "", "p.yaml:1:1: the text is empty: a plan begins with schema: nats-reader/plan/v1"},
		{"a comment alone", "# nothing\n", "p.yaml:1:1: the text is empty"},
		{"no YAML", head + "tags: [a\n", "p.yaml:4:7: no YAML: "},
		{"tab", head + "load:\n\trate: 1\n", "p.yaml:5:1: no YAML: a tab: indent with blanks"},
		{"key twice", head + "name: q\n", `p.yaml:4:1: no YAML: mapping key "name" already defined at [2:1]`},
		{"list", "- a\n", "p.yaml:1:1: a list is no plan"},
		{"word", "smoke\n", `p.yaml:1:1: "smoke" is no plan`},
		{"two documents", head + "---\n" + head, "p.yaml:5:1: a second document: a file holds one plan"},
		{"another schema", "schema: nats-reader/plan/v2\nname: p\ntitle: t\n", `p.yaml:1:9: schema: "nats-reader/plan/v2" is no schema of a plan; allowed: nats-reader/plan/v1`},
		{"no head", "tags: []\n", "p.yaml:1:1: schema is missing\np.yaml:1:1: name is missing\np.yaml:1:1: title is missing"},
		{"anchor", head + "why: &x text\n", "p.yaml:4:6: why: want text, not an anchor, alias or tag"},
		{"merge key", head + "<<: {name: q}\n", "p.yaml:4:1: a plan has no merge keys"},
		{"too long", head + "why: " + strings.Repeat("x", 1<<20), "p.yaml:1:1: the text has "},

		// keys and types
		{"unknown key", head + "step: []\n", "p.yaml:4:1: step: no such key; did you mean steps?"},
		{"unknown key below", head + "server: {node: 3}\n", "p.yaml:4:10: server.node: no such key; did you mean nodes?; allowed: version, nodes"},
		{"unknown key far off", head + "load:\n  colour: red\n", "p.yaml:5:3: load.colour: no such key; allowed: rate, size, writers, subjects, prefill, bursts"},
		{"unknown limit", head + "contract: {deafness: 1s}\n", "p.yaml:4:12: contract.deafness: no such key; did you mean deaf?"},
		{"number for text", "schema: nats-reader/plan/v1\nname: 5\ntitle: t\n", `p.yaml:2:7: name: want text, not "5": write it in quotes`},
		{"text for number", head + "load: {rate: fast}\n", `p.yaml:4:14: load.rate: want a whole number from 0 to 100000, not "fast"`},
		{"negative", head + "load: {size: -1}\n", `p.yaml:4:14: load.size: want a whole number from 0 to 1000000, not "-1"`},
		{"fraction", head + "load: {rate: 1.5}\n", `p.yaml:4:14: load.rate: want a whole number`},
		{"too many", head + "server: {nodes: 99}\n", `p.yaml:4:17: server.nodes: want a whole number from 0 to 9, not "99"`},
		{"beyond any number", head + "stream: {max_msgs: 18446744073709551615}\n", `p.yaml:4:20: stream.max_msgs: want a whole number from 0, not "18446744073709551615"`},
		{"text for bool", head + "target: {wait_for_stream: yes}\n", `p.yaml:4:27: target.wait_for_stream: want true or false, not "yes"`},
		{"bare number for a duration", head + "phases: {steady: 5}\n", `p.yaml:4:18: phases.steady: want a duration such as 500ms, 5s or 2m, at most 1000h, not "5"`},
		{"negative duration", head + "phases: {steady: -5s}\n", `p.yaml:4:18: phases.steady: want a duration`},
		{"endless duration", head + "phases: {steady: 1001h}\n", `p.yaml:4:18: phases.steady: want a duration`},
		{"no window", head + "quiet: [{from: 1s, for: 0s}]\n", `p.yaml:4:25: quiet[0].for: want a duration above 0`},
		{"mapping for a list", head + "tags: {a: b}\n", "p.yaml:4:7: tags: want a list, not a mapping"},
		{"list for a mapping", head + "load: [1]\n", "p.yaml:4:7: load: want a mapping, not a list; allowed: rate"},
		{"nothing", head + "load:\n", "p.yaml:4:7: load: want a mapping, not nothing"},
		{"word of none", head + "server: {storage: flie}\n", `p.yaml:4:19: server.storage: "flie" is none of the words; did you mean file?; allowed: file, memory`},
		{"list in a list", head + "target: {subjects: [[1]]}\n", `p.yaml:4:21: target.subjects[0]: want a whole number from 0, not a list`},

		// faults
		{"unknown fault", head + step + "drop-mesage\n", `p.yaml:6:12: steps[0].fault: fault "drop-mesage": no such fault; did you mean drop-message?`},
		{"unknown parameter", head + step + "drop-message(n=3)\n", `p.yaml:6:12: steps[0].fault: fault "drop-message": n="3": no such parameter; did you mean nth?; allowed: subject, seq`},
		{"bad value", head + step + "black-hole(direction=left)\n", `p.yaml:6:12: steps[0].fault: fault "black-hole": direction="left": no such value; allowed: up, down, both`},
		{"pair of parameters", head + step + "drop-message(last=1s,nth=3)\n", `p.yaml:6:12: steps[0].fault: fault "drop-message": last="1s": it does not go with nth`},
		{"no parenthesis", head + step + "drop-message(nth=3\n", `p.yaml:6:12: steps[0].fault: fault "drop-message": nth: the closing parenthesis is missing`},
		{"schedule", head + step + "cut@5s\n", `p.yaml:6:12: steps[0].fault: fault "cut": "@5s" is a schedule: when says when it comes, and for how long it lasts`},
		{"fault missing", head + "steps:\n  - when: {at: 1s}\n", "p.yaml:5:5: steps[0]: fault is missing"},
		{"for of a fault that acts once", head + step + "cut\n    for: 2s\n", "p.yaml:7:10: steps[0].for: cut acts once and takes no duration"},
		{"two lengths", head + step + "latency(for=1s)\n    for: 2s\n", "p.yaml:7:10: steps[0].for: 2s, and the fault itself says 1s: leave one out"},
		{"cluster fault", head + step + "kill-node\n", "p.yaml:6:12: steps[0].fault: kill-node acts in a cluster: set server.nodes to 3"},
		{"node of no cluster", head + step + "freeze-server(node=n1)\n", "p.yaml:6:12: steps[0].fault: freeze-server names a node: set server.nodes to 3"},
		{"no such node", head + "server: {nodes: 3}\n" + step + "kill-node(node=n4)\n", `p.yaml:7:12: steps[0].fault: kill-node names node "n4": there are stream-leader, consumer-leader, meta-leader, reader, n1, n2, n3`},
		{"more nodes than there are", head + "server: {nodes: 3}\n" + step + "kill-node(count=4)\n", "p.yaml:7:12: steps[0].fault: kill-node wants 4 nodes, and there are 3"},
		{"all nodes that forget", head + "server: {nodes: 3}\n" + step + "disable-jetstream\n", "p.yaml:7:12: steps[0].fault: disable-jetstream needs a node: a cluster whose nodes all do so forgets its streams"},
		{"nearest node", head + "server: {nodes: 3}\n" + step + "kill-node\n    node: stream-leadr\n", `p.yaml:8:11: steps[0].node: "stream-leadr" is no node; did you mean stream-leader?`},
		{"two nodes", head + "server: {nodes: 3}\n" + step + "kill-node(node=n1)\n    node: n2\n", "p.yaml:8:11: steps[0].node: the fault itself names one: leave one out"},
		{"node of a fault without", head + "server: {nodes: 3}\n" + step + "cut\n    node: n2\n", "p.yaml:8:11: steps[0].node: cut acts on no node"},
		{"step-down without replicas", head + "server: {nodes: 3}\n" + step + "step-down-stream\n", "p.yaml:7:12: steps[0].fault: step-down-stream needs another replica that can lead: set server.replicas to 3"},
		{"process of others", head + "server: {connect: true}\n" + step + "kill-server\n", "p.yaml:7:12: steps[0].fault: kill-server acts on the process of a server of the lab: leave out server.connect"},
		{"pause on an old server", head + "server: {version: 2.10.22}\n" + step + "pause-consumer\n", "p.yaml:7:12: steps[0].fault: pause-consumer needs nats-server 2.11 or later, and server.version is 2.10.22"},
		{"fill without a limit", head + step + "fill-consumers\n", "p.yaml:6:12: steps[0].fault: fill-consumers fills a stream up to max_consumers: set stream.max_consumers"},
		{"freeze of no process", head + step + "freeze-reader\n", "p.yaml:6:12: steps[0].fault: freeze-reader stops the process of a target, and only exec: has one"},
		{"gone for good", head + step + "delete-stream\n", "p.yaml:6:12: steps[0].fault: delete-stream takes the stream away for good"},
		{"store lost for good", head + step + "lose-store\n", "p.yaml:6:12: steps[0].fault: lose-store takes the stream away for good"},
		{"two on one process", head + step + "kill-server\n    for: 3s\n  - when: {at: 2s}\n    fault: stop-server\n", "p.yaml:8:5: steps[1]: fault stop-server@2s+0s begins before the end of kill-server@1s+3s, and a server's process takes one at a time: make it @4s or later"},
		{"repetitions on one process", head + step + "kill-server\n    for: 3s\n    every: 2s\n    count: 2\n", "p.yaml:8:12: steps[0].every: 2s is shorter than the fault lasts, which is 3s"},

		// moments
		{"no moment", head + "steps:\n  - when: {after: 1s}\n    fault: cut\n", "p.yaml:5:11: steps[0].when: no moment is named; allowed: at, session"},
		{"two moments", head + "steps:\n  - when: {at: 1s, session: 2}\n    fault: cut\n", "p.yaml:5:11: steps[0].when: at and session exclude each other"},
		{"a bare time", head + "steps:\n  - when: 5s\n    fault: cut\n", `p.yaml:5:11: steps[0].when: want a mapping such as {at: 5s}, not "5s"`},
		{"session 0", head + "steps:\n  - when: {session: 0}\n    fault: cut\n", `p.yaml:5:21: steps[0].when.session: want a whole number from 1, not "0"`},
		{"after a time", head + "steps:\n  - when: {at: 1s, after: 1s}\n    fault: cut\n", "p.yaml:5:27: steps[0].when.after: it goes with an event: add it to the time"},
		{"nothing between", head + "steps:\n  - when: {random: {from: 3s, to: 3s}}\n    fault: cut\n", "p.yaml:5:20: steps[0].when.random: to is 3s, and must be after from, which is 3s"},
		{"half a window", head + "steps:\n  - when: {random: {from: 3s}}\n    fault: cut\n", "p.yaml:5:20: steps[0].when.random: to is missing"},
		{"no such window", head + "steps:\n  - when: {quiet: 1}\n    fault: cut\n", "p.yaml:5:19: steps[0].when.quiet: there are 0 quiet windows, counted from 1"},
		{"count without every", head + step + "cut\n    count: 3\n", "p.yaml:7:12: steps[0].count: 3 times need an interval: set every"},
		{"every without count", head + step + "cut\n    every: 3s\n", "p.yaml:7:12: steps[0].every: it needs a count of 2 or more"},
		{"beyond the phase", head + "phases: {inject: 5s}\n" + step + "latency\n", "p.yaml:6:5: steps[0]: its last fault may end at 11s, and the inject phase ends at 5s"},
		{"windows out of order", head + "quiet: [{from: 3s, for: 2s}, {from: 4s, for: 1s}]\n", "p.yaml:4:37: quiet[1].from: 4s is within the window before, which ends at 5s"},
		{"window beyond the phase", head + "phases: {inject: 5s}\nquiet: [{from: 3s, for: 3s}]\n", "p.yaml:5:9: quiet[0]: it ends at 6s, and the inject phase at 5s"},

		// what does not go together
		{"name", "schema: nats-reader/plan/v1\nname: My Plan\ntitle: t\n", `p.yaml:2:7: name: "My Plan": want at most 64 lower-case letters`},
		{"tag twice", head + "tags: [a, a]\n", `p.yaml:4:11: tags[1]: "a" is there twice`},
		{"version", head + "server: {version: v2.10}\n", `p.yaml:4:19: server.version: "v2.10": want a release such as 2.10.22`},
		{"replicas without nodes", head + "server: {replicas: 3}\n", "p.yaml:4:20: server.replicas: 3 replicas need so many nodes, and there is 1 node"},
		{"connect with a version", head + "server: {connect: true, version: 2.10.7}\n", "p.yaml:4:34: server.version: it is for a server of the lab"},
		{"accounts", head + "server:\n  config: |\n    accounts: {A: {}}\n", "p.yaml:5:11: server.config: users and accounts are the lab's own"},
		{"private reader of a work queue", head + "stream: {retention: workqueue}\n", "p.yaml:4:21: stream.retention: workqueue removes what is acknowledged, and a private reader acknowledges nothing: set target.durable"},
		{"discard without a limit", head + "stream: {discard: new}\n", "p.yaml:4:19: stream.discard: new refuses messages of a full stream, and no limit can fill it"},
		{"late stream, impatient target", head + "stream: {made_after: 1s}\n", "p.yaml:4:22: stream.made_after: the target has to wait for it: set target.wait_for_stream"},
		{"fewer writers than subjects", head + "load: {writers: 1, subjects: 2}\n", "p.yaml:4:17: load.writers: 1 writer for 2 subjects: some have none"},
		{"flood", head + "load: {rate: 100000, size: 1000000}\n", "p.yaml:4:28: load.size: 100000 messages of 1000000 bytes a second"},
		{"unknown target", head + "target: {name: consum}\n", `p.yaml:4:16: target.name: target "consum": no such target; did you mean consume?; allowed: reader, ordered-consume`},
		{"parameter of a target", head + "target: {name: consume(durble=false)}\n", `p.yaml:4:16: target.name: target "consume": durble="false": no such parameter; did you mean durable?`},
		{"value of a target", head + "target: {name: fetch(batch=0)}\n", `p.yaml:4:16: target.name: target "fetch": batch="0": want a whole number from 1`},
		{"exec of nothing", head + "target: {name: 'exec: '}\n", `p.yaml:4:16: target.name: target "exec:": the command is missing`},
		{"subject of none", head + "target: {subjects: [2]}\n", "p.yaml:4:21: target.subjects[0]: the load has the subjects 1 to 1"},
		{"durable and name", head + "target: {durable: d, consumer: c}\n", "p.yaml:4:32: target.consumer: it excludes durable"},
		{"durable skips", head + "target: {durable: d, on_missed: skip}\n", "p.yaml:4:33: target.on_missed: skip excludes durable"},
		{"durable from new", head + "target: {durable: d, start: new}\n", "p.yaml:4:29: target.start: new excludes durable"},
		{"name of no consumer", head + "target: {durable: a.b}\n", `p.yaml:4:19: target.durable: "a.b" is no name of a consumer`},
		{"heartbeat of a short pull", head + "target: {expires: 2s}\n", "p.yaml:4:9: target.heartbeat: 2s is more than half of expires, which is 2s"},
		{"expected of nobody", head + "expect: {consum: broken}\n", `p.yaml:4:18: expect.consum: "consum" is no target; did you mean consume?`},
		{"no finding", head + "expect: {consume: broke}\n", `p.yaml:4:19: expect.consume: "broke" is none of the words; did you mean broken?; allowed: held, broken, unknown`},

		// by lot
		{"no count", head + "random: {}\n", "p.yaml:4:9: random: count is missing"},
		{"no layer", head + "random: {count: 1, layers: [air]}\n", `p.yaml:4:29: random.layers[0]: "air" is none of the words; allowed: wire, server, process, reader`},
		{"nothing to draw", head + "random: {count: 1, faults: [{fault: cut, weight: 0}]}\n", "p.yaml:4:9: random: no fault is left that can be drawn"},
		{"a fault that cannot act", head + "random: {count: 1, faults: [{fault: kill-node}]}\n", "p.yaml:4:37: random.faults[0].fault: kill-node acts in a cluster"},
		{"range", head + "random: {count: 1, gap: {least: 2s, most: 1s}}\n", "p.yaml:4:25: random.gap: least is 2s, and most is 1s"},
		{"nodes of no cluster", head + "random: {count: 1, nodes: [n1]}\n", "p.yaml:4:28: random.nodes[0]: there is no cluster"},
		{"lots beyond the phase", head + "phases: {inject: 5s}\nrandom: {count: 3}\n", "p.yaml:5:9: random: its last fault may end at 21s, and the inject phase ends at 5s"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := plan.Parse("p.yaml", []byte(c.text))
			var all plan.Problems
			if !errors.As(err, &all) {
				t.Fatalf("got %v, want Problems", err)
			}
			if !strings.HasPrefix(all.Error(), c.want) {
				t.Errorf("got\n%s\nwant\n%s", all, c.want)
			}
			for _, p := range all {
				if strings.Contains(p.Error(), "\n") || p.Line < 1 || p.Column < 1 {
					t.Errorf("%q is not one line with its place", p.Error())
				}
			}
		})
	}
}

// All that is wrong is told at once, in the order of the text.
func TestEveryProblemIsTold(t *testing.T) {
	_, err := plan.Parse("p.yaml", []byte(head+`load: {rate: fast, writes: 2}
steps:
  - when: {at: soon}
    fault: [cut]
  - when: {at: 1s, session: 3}
contract: {lost: none}
`))
	want := `p.yaml:4:14: load.rate: want a whole number from 0 to 100000, not "fast"
p.yaml:4:20: load.writes: no such key; did you mean writers?; allowed: rate, size, writers, subjects, prefill, bursts
p.yaml:6:16: steps[0].when.at: want a duration such as 500ms, 5s or 2m, at most 1000h, not "soon"
p.yaml:7:12: steps[0].fault: want text, not a list
p.yaml:8:5: steps[1]: fault is missing
p.yaml:8:11: steps[1].when: at and session exclude each other: a step has one moment
p.yaml:9:18: contract.lost: want a whole number from 0, not "none"`
	if err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
}

// Whatever a text holds, it is refused with places, or is a plan that prints and parses
// back to itself.
func FuzzParse(f *testing.F) {
	f.Add([]byte(head + step + "cut\n"))
	f.Add([]byte("{"))
	all, err := plan.Bundled()
	if err != nil {
		f.Fatal(err)
	}
	for _, p := range all {
		b, err := p.YAML()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := plan.Parse("f", b)
		if err != nil {
			return
		}
		written, err := p.YAML()
		if err != nil {
			t.Fatal(err)
		}
		again, err := plan.Parse("again", written)
		if err != nil {
			t.Fatalf("%v\n%s", err, written)
		}
		twice, err := again.YAML()
		if err != nil || string(twice) != string(written) {
			t.Fatalf("printed as\n%s\nthen as\n%s (%v)", written, twice, err)
		}
	})
}
