package commands

// example is a command line of a help text. The tests run it as it stands, but for
// the addresses of servers.
type example struct {
	line  string // as it is typed; goes on behind a \ at the end of a line
	about string // what it is for
	needs needs
	until string // it goes on for ever: what it has written before somebody presses Ctrl-C
	code  int    // its exit code
}

// needs is what an example wants to find, in any number.
type needs uint

const (
	needServer  needs = 1 << iota // a server with streams ORDERS and PAYMENTS, a publisher, and the durable worker of ORDERS
	needReader                    // a nats-reader that reads ORDERS there
	needProxy                     // a nats-reader proxy with its control at 127.0.0.1:8474
	needPlan                      // the file my-plan.yaml
	needBundle                    // the file facts.gz, which doctor --bundle wrote
	needRun                       // the file run.jsonl, which watch --record wrote
	needMatrix                    // the file matrix/report.json, which chaos matrix --out matrix wrote
	needContext                   // the natscli context prod, of that server
	needScript                    // my-reader.sh, a program that prints what it reads
)

// examples are those of each command by its name. Each list stands beside its command.
var examples = map[string][]example{
	"":               appExamples,
	"watch":          watchExamples,
	"read":           readExamples,
	"proxy":          proxyExamples,
	"inject":         injectExamples,
	"doctor":         doctorExamples,
	"bench":          benchExamples,
	"explain":        explainExamples,
	"version":        versionExamples,
	"chaos":          chaosExamples,
	"chaos run":      chaosRunExamples,
	"chaos matrix":   chaosMatrixExamples,
	"chaos list":     chaosListExamples,
	"chaos show":     chaosShowExamples,
	"chaos validate": chaosValidateExamples,
	"chaos clear":    chaosClearExamples,
	"completion":     completionExamples,
	"man":            manExamples,
}

var appExamples = []example{
	{line: "nats-reader watch --demo", about: "see it read, with no server of your own", until: "session 1 open"},
	{line: "nats-reader read ORDERS --until-end | wc -l", about: "what a stream holds", needs: needServer},
	{line: "nats-reader doctor --for 2s", about: "which reader is deaf or stuck, and why", needs: needServer, code: exitWarning},
	{line: "nats-reader chaos run thirteen-cut", about: "what a reader does when its connection is cut"},
}
