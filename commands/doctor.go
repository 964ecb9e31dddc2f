package commands

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/urfave/cli/v2"

	"github.com/an-open-reader/nats-reader/reader/doctor"
)

// The flags of doctor that no other command names, or none with the same values.
const (
	flagEvery         = "every"
	flagBundle        = "bundle"
	flagMonitor       = "monitor"
	flagOnly          = "only"
	flagSkip          = "skip"
	flagDeleteOrphans = "delete-orphans"
	flagIdleAfter     = "idle-after"
	flagAllRows       = "all"
)

const doctorDescription = `Looks at consumers several times over --for, at connections,
permissions and limits, and says which reader is deaf or stuck, why, and what
to do. It only asks, unless --listen or --delete-orphans is given.

Exit code: 0 nothing is wrong, 1 warnings, 2 critical, 3 cannot judge.
nats-reader explain READER_001 tells of one check.`

var doctorExamples = []example{
	{line: "nats-reader doctor", about: "all consumers of the account, watched for 6s", needs: needServer, code: exitWarning},
	{line: "nats-reader doctor ORDERS worker --listen", about: "one consumer, with the pulls that arrive for it", needs: needServer, code: exitWarning},
	{line: "nats-reader doctor --bundle facts.gz --fail-on critical", about: "keep what was gathered", needs: needServer},
	{line: "nats-reader doctor --from facts.gz --format markdown", about: "judge it elsewhere, without a server", needs: needBundle, code: exitWarning},
	{line: "nats-reader doctor ORDERS --delete-orphans --target-name ORDERS", about: "delete the consumers that a killed reader has left", needs: needServer, code: exitWarning},
}

var doctorFormats = []string{"text", "json", "nagios", "prometheus", "junit", "markdown"}

func (p *program) doctorCommand() *cli.Command {
	return &cli.Command{
		Name: "doctor", Usage: "finds deaf readers, orphans, storms and their causes on a live server",
		ArgsUsage: "[STREAM [CONSUMER]]", Description: doctorDescription,
		Flags: append([]cli.Flag{
			&cli.DurationFlag{Name: flagFor, Usage: "how long is watched; without it for 6s, and for up to 30s more where a reader may be between two polls", Value: 6 * time.Second, DefaultText: "6s"},
			&cli.DurationFlag{Name: flagEvery, Usage: "do it again after so long, until Ctrl-C", DefaultText: "once"},
			boolFlag(flagListen, "", "hear pulls too, for up to 3s: meanwhile a pull for a consumer that does not exist gets silence instead of 503, whoever sends it"),
			&cli.StringFlag{Name: flagMonitor, Usage: "ask the monitoring port at `URL` too, http://HOST:8222"},
			&cli.StringFlag{Name: flagBundle, Usage: "write everything that was gathered to `FILE`, without secrets"},
			&cli.StringFlag{Name: flagFrom, Usage: "judge the bundle in `FILE`; no server is asked"},
			&cli.StringSliceFlag{Name: flagOnly, Usage: "this `CHECK` alone, such as READER_001 or 1; may be given several times"},
			&cli.StringSliceFlag{Name: flagSkip, Usage: "not this `CHECK`; may be given several times"},
			&cli.StringFlag{Name: flagFailOn, Usage: "`warning|critical|never`: from which findings on the exit code is not 0", Value: "warning", DefaultText: "warning"},
			&cli.DurationFlag{Name: flagIdleAfter, Usage: "how long consumers with names drawn by lot are idle before they count as orphans", Value: 10 * time.Minute},
			boolFlag(flagDeleteOrphans, "", "delete orphaned consumers of the stream, each after another look"),
			&cli.StringFlag{Name: flagTargetName, Usage: "the `STREAM` typed once more, for --delete-orphans"},
			boolFlag(flagAllRows, "", "all consumers in the table and all findings, not only the 20 most suspicious and 20 of each check"),
			boolFlag(flagQuiet, "", "no progress on stderr"),
			&cli.StringFlag{Name: flagFormat, Usage: "`" + strings.Join(doctorFormats, "|") + "`: the form of the output", Value: "text", DefaultText: "text"},
			boolFlag(flagJSON, "", "short for --format json"),
		}, systemFlagTable()...),
		Action: p.doctor,
	}
}

// doctorPlan is a command line of doctor, checked.
type doctorPlan struct {
	options  doctor.Options
	judge    doctor.JudgeOptions
	every    time.Duration
	round    int // of --every, from 1
	bundle   string
	from     string
	failOn   doctor.Severity // empty: never
	remove   bool
	allRows  bool
	quiet    bool
	colored  bool
	format   string
	settings settings
	reach    reach // of the commands that are printed
}

func (p *program) doctor(c *cli.Context) error {
	w, err := p.doctorPlan(c)
	if err != nil {
		return err
	}
	if w.from != "" {
		f, err := readBundle(w.from)
		if err != nil {
			return err
		}
		return p.diagnose(w, f)
	}
	nc, err := p.connect(c.Context, w.settings)
	if err != nil {
		return err
	}
	defer nc.Close()
	js, err := w.settings.jetStream(nc)
	if err != nil {
		return err
	}
	o := js.Options()
	w.options.APIPrefix = o.APIPrefix
	if o.APIPrefix == "" && o.Domain != "" {
		w.options.APIPrefix = "$JS." + o.Domain + ".API."
	}
	w.options.EventPrefix = w.settings.context.JSEventPrefix()
	for w.round = 1; ; w.round++ {
		err := p.examine(c.Context, nc, w)
		var done outcome
		if w.every == 0 || err != nil && !errors.As(err, &done) {
			return err
		}
		next := time.NewTimer(w.every)
		select {
		case <-next.C:
		case <-c.Context.Done():
			next.Stop()
			return context.Cause(c.Context)
		}
	}
}

// examine gathers and judges once.
func (p *program) examine(ctx context.Context, nc *nats.Conn, w doctorPlan) error {
	show := p.doctorProgress(w.quiet)
	w.options.Progress = show.step
	f, err := doctor.Gather(ctx, nc, w.options)
	show.end()
	if err != nil {
		return doctorProblem(ctx, p, nc, w, err)
	}
	var unwritten error
	if w.bundle != "" {
		unwritten = writeBundle(w.bundle, f)
	}
	err = p.diagnose(w, f)
	if unwritten != nil { // what was found out is told all the same
		return unwritten
	}
	var done outcome
	if w.remove && (err == nil || errors.As(err, &done)) {
		if failed := p.removeOrphans(ctx, nc, w, f); failed != nil {
			return failed
		}
	}
	return err
}

// diagnose judges and prints; the error is the exit code.
func (p *program) diagnose(w doctorPlan, f doctor.Facts) error {
	r := doctor.Judge(f, w.judge)
	r.Findings = w.reach.amend(r.Findings)
	if err := printDiagnosis(p.stdout, w, r); err != nil {
		return err
	}
	code := exitGood
	switch {
	case w.format == "prometheus":
	case r.Verdict == doctor.VerdictUnknown:
		code = exitCannotJudge
	case r.Verdict == doctor.VerdictCritical && w.failOn != "":
		code = exitCritical
	case r.Verdict == doctor.VerdictWarning && w.failOn == doctor.Warning:
		code = exitWarning
	}
	if code == exitGood {
		return nil
	}
	return outcome{code}
}

func (p *program) doctorPlan(c *cli.Context) (w doctorPlan, err error) {
	w = doctorPlan{
		options: doctor.Options{Stream: c.Args().Get(0), Consumer: c.Args().Get(1), For: c.Duration(flagFor), Listen: c.Bool(flagListen), Monitor: c.String(flagMonitor), Timeout: c.Duration(flagTimeout)},
		judge:   doctor.JudgeOptions{IdleAfter: c.Duration(flagIdleAfter)},
		every:   c.Duration(flagEvery), bundle: c.String(flagBundle), from: c.String(flagFrom), remove: c.Bool(flagDeleteOrphans),
		allRows: c.Bool(flagAllRows), quiet: c.Bool(flagQuiet), format: c.String(flagFormat),
	}
	if c.Bool(flagJSON) {
		w.format = "json"
	}
	if !c.IsSet(flagFor) {
		w.options.For = 0 // the default, and a longer look where that decides something
	}
	if !slices.Contains(doctorFormats, w.format) {
		return w, usage{problem: fmt.Sprintf("flag --%s: %q is not one of %s", flagFormat, w.format, strings.Join(doctorFormats, ", ")), hint: didYouMean(w.format, doctorFormats, "")}
	}
	if c.NArg() > 2 {
		return w, usage{problem: fmt.Sprintf("doctor takes a stream and a consumer: %q is one too many", c.Args().Get(2)), hint: "to look at several streams, name none"}
	}
	switch on := c.String(flagFailOn); on {
	case "warning", "critical":
		w.failOn = doctor.Severity(on)
	case "never":
	default:
		return w, usage{problem: fmt.Sprintf("flag --%s: %q is not one of warning, critical, never", flagFailOn, on), hint: didYouMean(on, []string{"warning", "critical", "never"}, "")}
	}
	for name, into := range map[string]*[]string{flagOnly: &w.judge.Only, flagSkip: &w.judge.Skip} {
		if *into, err = checkIDs(name, c.StringSlice(name)); err != nil {
			return w, err
		}
		if c.IsSet(name) && len(*into) == 0 {
			return w, usage{problem: fmt.Sprintf("flag --%s: no check is named", name), hint: "nats-reader explain --list has all, READER_001 and so on"}
		}
	}
	if !slices.ContainsFunc(doctor.Checks(), func(check doctor.Check) bool { return w.judge.Wants(check.ID) }) {
		return w, usage{problem: fmt.Sprintf("flags --%s and --%s leave no check", flagOnly, flagSkip), hint: "what no check looks at is not healthy: leave one out"}
	}
	if err := w.check(c); err != nil {
		return w, err
	}
	if w.colored = p.showsColors(); w.from != "" {
		w.settings.scheme, err = chooseScheme(c, "")
		return w, err
	}
	if w.settings, err = p.settingsOf(c); err != nil {
		return w, err
	}
	w.reach = reachOf(c)
	w.options.System, err = p.systemAccount(c, w.settings)
	return w, err
}

// checkIDs reads the checks of a flag, several of which may stand in one value.
func checkIDs(flag string, words []string) (ids []string, err error) {
	for _, word := range strings.FieldsFunc(strings.Join(words, ","), func(r rune) bool { return r == ',' || r == ' ' }) {
		id := doctor.CheckID(word)
		if id == "" {
			return nil, usage{problem: fmt.Sprintf("flag --%s: there is no check %q", flag, word), hint: didYouMean(word, checkWords(), "nats-reader explain --list has all, READER_001 and so on")}
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// check refuses what does not go together.
func (w doctorPlan) check(c *cli.Context) error {
	for _, name := range []string{flagFor, flagEvery, flagIdleAfter} {
		if c.IsSet(name) && c.Duration(name) <= 0 {
			return usage{problem: fmt.Sprintf("flag --%s: %s is not above 0", name, c.Duration(name))}
		}
	}
	if monitor := w.options.Monitor; monitor != "" && !strings.HasPrefix(monitor, "http://") && !strings.HasPrefix(monitor, "https://") {
		return usage{problem: fmt.Sprintf("flag --%s: %q does not begin with http:// or https://", flagMonitor, monitor), hint: "http://HOST:8222"}
	}
	if w.bundle != "" { // to be told before a minute of watching, not after
		if _, err := os.Stat(filepath.Dir(w.bundle)); err != nil {
			return usage{problem: fmt.Sprintf("flag --%s: %v", flagBundle, err), cause: err}
		}
	}
	if w.from != "" {
		for _, name := range append([]string{flagFor, flagEvery, flagListen, flagMonitor, flagBundle, flagDeleteOrphans}, systemFlags...) {
			if c.IsSet(name) {
				return usage{problem: fmt.Sprintf("flag --%s needs a server, and --%s asks none", name, flagFrom), hint: "leave one out"}
			}
		}
		if c.NArg() > 0 {
			return usage{problem: fmt.Sprintf("with --%s everything in the bundle is judged: %q is one too many", flagFrom, c.Args().First())}
		}
	}
	target := c.String(flagTargetName)
	switch {
	case !w.remove && target != "":
		return usage{problem: fmt.Sprintf("flag --%s is for --%s", flagTargetName, flagDeleteOrphans)}
	case w.remove && w.every > 0:
		return usage{problem: fmt.Sprintf("flags --%s and --%s exclude each other", flagEvery, flagDeleteOrphans), hint: "look at what is to be deleted each time"}
	case w.remove && w.options.Stream == "":
		return usage{problem: fmt.Sprintf("flag --%s needs a stream", flagDeleteOrphans), hint: "nats-reader doctor STREAM --delete-orphans --target-name STREAM"}
	case w.remove && target != w.options.Stream:
		return usage{
			problem: fmt.Sprintf("flag --%s deletes consumers of stream %s: type its name once more", flagDeleteOrphans, w.options.Stream),
			hint:    fmt.Sprintf("--%s %s; without --%s you see what would be deleted", flagTargetName, w.options.Stream, flagDeleteOrphans),
		}
	}
	return nil
}

// doctorProblem says an error of gathering in one line, with a hint.
func doctorProblem(ctx context.Context, p *program, nc *nats.Conn, w doctorPlan, err error) error {
	switch {
	case errors.Is(err, doctor.ErrStreamNotFound):
		js, e := w.settings.jetStream(nc)
		if e != nil {
			return err
		}
		return streamNotFound(ctx, js, w.options.Stream, "check the name and the account; without a name all streams are looked at", err)
	case errors.Is(err, doctor.ErrConsumerNotFound):
		return usage{problem: err.Error(), cause: err, hint: "nats-reader doctor " + w.options.Stream + " looks at all consumers of the stream; an ephemeral one may have lapsed"}
	case errors.Is(err, doctor.ErrOptions):
		problem := strings.TrimPrefix(err.Error(), doctor.ErrOptions.Error()+": ")
		problem = strings.NewReplacer("For: ", "flag --for: ", "Timeout: ", "flag --timeout: ", "Stream: ", "stream: ", "Consumer: ", "consumer: ").Replace(problem)
		return usage{problem: problem, cause: err}
	default:
		return err
	}
}

func readBundle(path string) (doctor.Facts, error) {
	file, err := os.Open(path)
	if err != nil {
		return doctor.Facts{}, usage{problem: fmt.Sprintf("flag --%s: %v", flagFrom, err), cause: err}
	}
	defer file.Close() //nolint:errcheck // it was only read
	f, err := doctor.Read(file)
	if err != nil {
		return f, usage{problem: fmt.Sprintf("flag --%s: %s: %v", flagFrom, path, err), cause: err, hint: "doctor --bundle FILE writes one"}
	}
	return f, nil
}
