package commands

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/an-open-reader/nats-reader/chaos/bench"
)

// The flags of bench, beside those that other commands have too.
const (
	flagSize     = "size"
	flagPull     = "pull"
	flagBase     = "base"
	flagStorage  = "storage"
	flagWork     = "work"
	flagLimit    = "limit"
	flagMetadata = "metadata"
)

const benchDescription = `Reads a filled stream with this program's reader and with those of nats.go,
one after the other, each from the first message to the last, in rounds.
What counts are the ratios within a round, and of those the median.

The server is one of the lab's, in a process of its own, or the one that
--server or --context names on this command line: there bench makes a
stream of its own and removes it at the end, after an interrupt too; what a
kill leaves, nats-reader chaos clear removes. NATS_URL and the selected
context alone do not lead there: a bench takes all that a server has.

--pull equal has everyone ask for --batch messages ahead, and for no fewer
because of their size; defaults leaves each as its library has it. A push
consumer (legacy-ordered) asks for nothing.

--readers N --idle measures what N readers of one process cost while nothing
comes, and on a server of the lab how soon all read again after it was
killed and after it was stopped; with --nodes 3 after each node was killed.
Memory is what is kept after a collection, divided by N; 24 KiB and two
goroutines each are allowed, and no API request. --for watches idle readers,
or without --readers one reader and a publisher at full speed, and tells
whether heap, rss, goroutines, consumers or subscriptions grow: whether the
median of the last third of the samples is above that of the first by more
than a tolerance, the first fifth left out.

Every contestant compares the number in each payload, its size, and the
stream sequence of the last message. --metadata has each know the stream
sequence of every message: nats.go's readers parse it then.

CPU is that of this process, per message, while it only reads; the server's
is measured where it is the lab's. Wire bytes are all that arrive.

Exit code: 0 all was read, 2 a reader lost or repeated a message, 3 one did
not come to the end within --limit, or there is nothing to measure on,
130 interrupted. Of many readers and long times: 0 all holds, 2 something
grows or does not hold.`

var benchExamples = []example{
	{line: "nats-reader bench --count 2000 --rounds 1", about: "all contestants, a short run; without flags it takes minutes"},
	{line: "nats-reader bench --only next,consume --size 4096 --count 10000 --rounds 3", about: "this reader beside nats.go's Consume, with messages of 4 KiB"},
	{line: "nats-reader bench --pull equal --base consume,ordered-messages \\\n   --size 128 --count 5000 --rounds 1 --json", about: "compared with two, for programs"},
	{line: "nats-reader bench --readers 20 --streams 4 --idle --idle-time 2s", about: "what idle readers cost, and how soon they read again"},
	{line: "nats-reader bench --for 3s --rate 1000", about: "whether anything grows; minutes tell more"},
}

func (p *program) benchCommand() *cli.Command {
	flags := []cli.Flag{
		&cli.StringSliceFlag{Name: flagSize, Usage: "`BYTES,...`: sizes of payloads, each on a stream of its own", DefaultText: "128,4096"},
		&cli.StringSliceFlag{Name: flagCount, Usage: "`N,...`: messages of a stream; one for all sizes, or one for each", DefaultText: "1000000, or fewer that are 512 MiB"},
		&cli.IntFlag{Name: flagRounds, Usage: "`N` readings of each contestant", Value: 7},
		&cli.StringSliceFlag{Name: flagOnly, Usage: "`NAME,...`: " + strings.Join(bench.Names(), ", "), DefaultText: "all"},
		&cli.StringFlag{Name: flagPull, Usage: "`equal|defaults|both`: how much is asked for ahead", Value: pullBoth, DefaultText: pullBoth},
		&cli.IntFlag{Name: flagBatch, Usage: "`N` messages asked for ahead with equal pulls", Value: defaultBenchBatch},
		&cli.StringSliceFlag{Name: flagBase, Usage: "`NAME,...`: whom the others are compared with", DefaultText: bench.Base},
		&cli.StringFlag{Name: flagStorage, Usage: "`memory|file`: where the stream is kept", Value: storageFile, DefaultText: storageFile},
		&cli.DurationFlag{Name: flagWork, Usage: "how long the caller works on each message", DefaultText: "not at all"},
		boolFlag(flagMetadata, "", "know the stream sequence of every message"),
		&cli.DurationFlag{Name: flagLimit, Usage: "how long one reading may take", DefaultText: "1m, 3 times the work, 1s for each MiB"},
		&cli.StringFlag{Name: flagServerBin, Usage: "nats-server `BINARY` of the lab"},
		&cli.StringFlag{Name: flagFormat, Usage: "`text|json|markdown`: the form of the output", Value: "text", DefaultText: "text"},
		boolFlag(flagJSON, "", "short for --format json"),
		boolFlag(flagQuiet, "", "tell nothing on stderr while it runs"),
	}
	return &cli.Command{
		Name: "bench", Usage: "how fast it reads, beside nats.go's own readers, in one run", Description: benchDescription,
		Flags:  append(flags, fleetFlags()...),
		Action: p.bench,
	}
}

// The words of --pull and --storage, and defaults.
const (
	pullBoth          = "both"
	storageFile       = "file"
	storageMemory     = "memory"
	defaultBenchBatch = 4096
	defaultBenchCount = 1_000_000
	defaultBenchBytes = 512 << 20 // of larger messages there are fewer
)

// benchPlan is what the command line of bench asks for.
type benchPlan struct {
	plan    bench.Plan
	format  string
	quiet   bool
	binary  string
	foreign bool // the server of the connection flags
}

func (p *program) bench(c *cli.Context) error {
	if wantsFleet(c) {
		return p.runFleet(c)
	}
	w, err := benchPlanOf(c)
	if err != nil {
		return err
	}
	return p.runBench(c, w)
}

// benchPlanOf reads all that can be wrong before anything is started.
func benchPlanOf(c *cli.Context) (w benchPlan, err error) {
	if c.NArg() > 0 {
		return w, usage{problem: fmt.Sprintf("bench takes no argument: %q is one too many", c.Args().First()), hint: "it makes a stream of its own; see nats-reader bench --help"}
	}
	w = benchPlan{quiet: c.Bool(flagQuiet)}
	w.plan = bench.Plan{
		Rounds: c.Int(flagRounds), Batch: c.Int(flagBatch), Work: c.Duration(flagWork), Metadata: c.Bool(flagMetadata), Limit: c.Duration(flagLimit),
	}
	if w.format, err = benchFormat(c); err != nil {
		return w, err
	}
	storage, err := oneOf(c, flagStorage, storageFile, storageMemory)
	if err != nil {
		return w, err
	}
	w.plan.Memory = storage == storageMemory
	pull, err := oneOf(c, flagPull, string(bench.Equal), string(bench.Defaults), pullBoth)
	if err != nil {
		return w, err
	}
	w.plan.Pulls = []bench.Pulls{bench.Pulls(pull)}
	if pull == pullBoth {
		w.plan.Pulls = []bench.Pulls{bench.Equal, bench.Defaults}
	}
	if c.IsSet(flagLimit) && w.plan.Limit <= 0 {
		return w, usage{problem: fmt.Sprintf("flag --%s: %s is not above 0", flagLimit, w.plan.Limit)}
	}
	if err := contestantsOf(c, &w.plan); err != nil {
		return w, err
	}
	if w.plan.Loads, err = loadsOf(c); err != nil {
		return w, err
	}
	if err := w.plan.Check(); err != nil {
		return w, planProblem(err)
	}
	return w, w.serverOf(c)
}

// benchFormat is the form of the result.
func benchFormat(c *cli.Context) (string, error) {
	format, err := oneOf(c, flagFormat, "text", "json", "markdown")
	if err != nil {
		return "", err
	}
	if c.Bool(flagJSON) {
		if c.IsSet(flagFormat) && format != "json" {
			return "", usage{problem: fmt.Sprintf("flags --%s and --%s %s exclude each other", flagJSON, flagFormat, format)}
		}
		format = "json"
	}
	return format, nil
}

// serverOf reads where it is measured.
func (w *benchPlan) serverOf(c *cli.Context) (err error) {
	w.foreign = layerOf(c, flagServer) == layerFlag || layerOf(c, flagContext) == layerFlag
	if w.binary, err = serverBinOf(c); err != nil {
		return err
	}
	if w.foreign && w.binary != "" {
		return usage{problem: fmt.Sprintf("flag --%s: it is for the lab's server, and --%s or --%s names another", flagServerBin, flagServer, flagContext)}
	}
	if w.foreign {
		return nil
	}
	for _, name := range loginFlags {
		if layerOf(c, name) == layerFlag {
			return usage{problem: fmt.Sprintf("flag --%s: nobody logs in to the lab's server", name), hint: fmt.Sprintf("--%s or --%s names another", flagServer, flagContext)}
		}
	}
	return nil
}

// oneOf reads a flag that has one of a few words.
func oneOf(c *cli.Context, flag string, words ...string) (string, error) {
	word := c.String(flag)
	if slices.Contains(words, word) {
		return word, nil
	}
	return "", usage{problem: fmt.Sprintf("flag --%s: %q is not one of %s", flag, word, strings.Join(words, ", ")), hint: didYouMean(word, words, "")}
}

// contestantsOf reads who is measured, and whom they are compared with.
func contestantsOf(c *cli.Context, plan *bench.Plan) (err error) {
	all := bench.Names()
	if plan.Contestants, err = namesOf(c, flagOnly, all, "contestant"); err != nil {
		return err
	}
	if !c.IsSet(flagOnly) {
		plan.Contestants = all
	}
	if plan.Bases, err = namesOf(c, flagBase, all, "contestant"); err != nil {
		return err
	}
	for _, base := range plan.Bases {
		if !slices.Contains(plan.Contestants, base) {
			return usage{problem: fmt.Sprintf("flag --%s: %s is not measured", flagBase, base), hint: "add it to --" + flagOnly}
		}
	}
	if !c.IsSet(flagBase) && len(plan.Contestants) > 1 {
		plan.Bases = []string{plan.Contestants[0]}
		if slices.Contains(plan.Contestants, bench.Base) {
			plan.Bases = []string{bench.Base}
		}
	}
	return nil
}

// namesOf reads a list of names, each once.
func namesOf(c *cli.Context, flag string, known []string, what string) (names []string, err error) {
	words := splitLists(c.StringSlice(flag))
	if len(words) == 0 && c.IsSet(flag) {
		return nil, usage{problem: fmt.Sprintf("flag --%s: a name is missing", flag), hint: "some of " + strings.Join(known, ", ")}
	}
	for _, word := range words {
		if !slices.Contains(known, word) {
			return nil, usage{problem: fmt.Sprintf("flag --%s: %q is no %s", flag, word, what), hint: didYouMean(word, known, "there are "+strings.Join(known, ", "))}
		}
		if !slices.Contains(names, word) {
			names = append(names, word)
		}
	}
	return names, nil
}

// loadsOf reads sizes and counts.
func loadsOf(c *cli.Context) ([]bench.Load, error) {
	sizes, err := numbersOf(c, flagSize, 1<<30)
	if err != nil {
		return nil, err
	}
	if !c.IsSet(flagSize) {
		sizes = []int{128, 4096}
	}
	counts, err := numbersOf(c, flagCount, bench.MaxCount)
	if err != nil {
		return nil, err
	}
	if !c.IsSet(flagCount) {
		for _, size := range sizes {
			counts = append(counts, max(min(defaultBenchCount, defaultBenchBytes/size), 1))
		}
	}
	if len(counts) != 1 && len(counts) != len(sizes) {
		return nil, usage{problem: fmt.Sprintf("flag --%s: %d numbers for %s", flagCount, len(counts), counted(len(sizes), "size")), hint: "give one for all sizes, or one for each"}
	}
	loads := make([]bench.Load, len(sizes))
	for i, size := range sizes {
		loads[i] = bench.Load{Size: size, Count: counts[min(i, len(counts)-1)]}
	}
	return loads, nil
}

// numbersOf reads a list of whole numbers from 1; 1e6 is one.
func numbersOf(c *cli.Context, flag string, most int) (all []int, err error) {
	words := splitLists(c.StringSlice(flag))
	if len(words) == 0 && c.IsSet(flag) {
		return nil, usage{problem: fmt.Sprintf("flag --%s: a number is missing", flag)}
	}
	for _, word := range words {
		n, err := strconv.Atoi(word)
		if err != nil {
			var f float64
			if f, err = strconv.ParseFloat(word, 64); err == nil && f == float64(int64(f)) && f <= float64(most) {
				n = int(f)
			} else {
				return nil, usage{problem: fmt.Sprintf("flag --%s: %q is not a whole number from 1 to %d", flag, word, most)}
			}
		}
		if n < 1 || n > most {
			return nil, usage{problem: fmt.Sprintf("flag --%s: %s is not 1 to %d", flag, word, most)}
		}
		all = append(all, n)
	}
	return all, nil
}

// planProblem says what is wrong with a plan in the words of the command line.
func planProblem(err error) error {
	flags := map[string]string{"Rounds": flagRounds, "Batch": flagBatch, "Work": flagWork, "Size": flagSize, "Count": flagCount}
	text := strings.TrimPrefix(err.Error(), bench.ErrPlan.Error()+": ")
	if field, rest, found := strings.Cut(text, ": "); found && errors.Is(err, bench.ErrPlan) && flags[field] != "" {
		text = fmt.Sprintf("flag --%s: %s", flags[field], rest)
	}
	return usage{problem: text, cause: err}
}

// timeLeftOf guesses how long the rest of a bench takes, by what it took so far.
func timeLeftOf(began time.Time, done, all int) time.Duration {
	if done == 0 {
		return 0
	}
	return (time.Since(began) / time.Duration(done) * time.Duration(all-done)).Round(time.Second)
}
