package commands

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/an-open-reader/nats-reader/chaos/lab"
	"github.com/an-open-reader/nats-reader/chaos/matrix"
	"github.com/an-open-reader/nats-reader/chaos/plan"
	"github.com/an-open-reader/nats-reader/chaos/target"
)

// allOf stands for every target, or every server.
const allOf = "all"

// axesOf reads who reads, under which faults, on which servers.
func (p *program) axesOf(c *cli.Context, m *matrix.Matrix) (err error) {
	if m.Targets, err = matrixTargets(c.StringSlice(flagTargets)); err != nil {
		return err
	}
	if m.Servers, err = matrixServers(c.StringSlice(flagServers)); err != nil {
		return err
	}
	words := splitLists(c.StringSlice(flagFaults))
	if len(words) == 0 {
		words = []string{thirteenPlans}
	}
	if words, err = byColumn(words); err != nil {
		return err
	}
	if m.Faults, err = p.plansOf(words); err != nil {
		var u usage
		if errors.As(err, &u) {
			u.problem = fmt.Sprintf("flag --%s: %s", flagFaults, u.problem)
			return u
		}
		return err
	}
	for i := range m.Faults {
		if err := overrideTarget(c, &m.Faults[i].Target); err != nil {
			return err
		}
	}
	m.Flags = readerFlagsGiven(c)
	return nil
}

// byColumn takes the names above the columns of the thirteen faults (a, cut, f2) for those of their plans.
func byColumn(words []string) ([]string, error) {
	thirteen, err := plan.Tagged(thirteenPlans)
	if err != nil {
		return nil, err
	}
	names := map[string]string{}
	for _, p := range thirteen {
		column, _, _ := strings.Cut(strings.TrimPrefix(p.Name, thirteenPlans+"-"), "-")
		names[column] = p.Name
	}
	all := slices.Clone(words)
	for i, word := range all {
		if name, is := names[word]; is {
			all[i] = name
		}
	}
	return all, nil
}

// readerFlagsGiven are the flags of the command line that set the reader.
func readerFlagsGiven(c *cli.Context) (given []string) {
	for _, f := range readerFlags() {
		name := f.Names()[0]
		if c.IsSet(name) {
			given = append(given, fmt.Sprintf("--%s=%v", name, c.Value(name)))
		}
	}
	return given
}

// splitLists cuts lists at their commas. One within parentheses or quotes is none, and a command (exec:CMD) takes all that is
// left.
func splitLists(lists []string) (all []string) {
	for _, list := range lists {
		for rest := list; rest != ""; {
			var word string
			word, rest = firstWord(rest)
			if word = strings.TrimSpace(word); word != "" {
				all = append(all, word)
			}
		}
	}
	return all
}

func firstWord(list string) (word, rest string) {
	if strings.HasPrefix(strings.TrimSpace(list), "exec:") {
		return list, ""
	}
	depth := 0
	for i, r := range list {
		switch r {
		case '(':
			depth++
		case ')':
			depth--
		case ',':
			if depth <= 0 {
				return list[:i], list[i+1:]
			}
		}
	}
	return list, ""
}

func matrixTargets(lists []string) ([]string, error) {
	words := splitLists(lists)
	if len(words) == 0 {
		if len(lists) > 0 {
			return nil, usage{problem: fmt.Sprintf("flag --%s: a name is missing", flagTargets), hint: "all, or some of " + strings.Join(target.Names(), ", ")}
		}
		words = []string{failOnReader}
	}
	var names []string
	for _, word := range words {
		these := []string{word}
		if word == allOf {
			these = target.Names()
		}
		for _, text := range these {
			t, err := target.Parse(text)
			if err != nil {
				return nil, targetProblem(flagTargets, err)
			}
			if !slices.Contains(names, t.Name()) {
				names = append(names, t.Name())
			}
		}
	}
	return names, nil
}

// matrixServers reads the versions, and tells of all that were not built yet at once.
func matrixServers(lists []string) ([]string, error) {
	words := splitLists(lists)
	if len(words) == 0 {
		if len(lists) > 0 {
			return nil, usage{problem: fmt.Sprintf("flag --%s: a version is missing", flagServers), hint: "embedded, all, or some of " + strings.Join(lab.Versions(), ", ")}
		}
		words = []string{matrix.Embedded}
	}
	var names, missing []string
	for _, word := range words {
		these := []string{strings.TrimPrefix(word, "v")}
		if word == allOf {
			these = lab.Versions()
		}
		for _, version := range these {
			if version == lab.EmbeddedVersion {
				version = matrix.Embedded
			}
			if slices.Contains(names, version) {
				continue
			}
			names = append(names, version)
			if version == matrix.Embedded {
				continue
			}
			if !versionWord.MatchString(version) {
				known := append([]string{matrix.Embedded, allOf}, lab.Versions()...)
				return nil, usage{
					problem: fmt.Sprintf("flag --%s: %q is no version of nats-server", flagServers, version),
					hint:    didYouMean(version, known, "there are "+strings.Join(known, ", ")),
				}
			}
			if _, err := lab.CachedServer(version); errors.Is(err, lab.ErrNotCached) {
				missing = append(missing, version)
			} else if err != nil {
				return nil, usage{problem: fmt.Sprintf("flag --%s: %v", flagServers, err), cause: err}
			}
		}
	}
	return names, notBuilt(missing)
}

var versionWord = regexp.MustCompile(`^[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.]+)?$`)

// notBuilt tells which versions are not in the cache, and what may have been meant by one that is not of the matrix.
func notBuilt(missing []string) error {
	if len(missing) == 0 {
		return nil
	}
	hint := "build what is missing: scripts/servers.sh " + strings.Join(missing, " ")
	for _, v := range missing {
		if near := nearest(v, lab.Versions()); len(near) > 0 && !slices.Contains(near, v) {
			hint = "did you mean " + strings.Join(near, " or ") + "? Else " + hint
			break
		}
	}
	return usage{problem: fmt.Sprintf("flag --%s: nats-server %s is not in the cache", flagServers, strings.Join(missing, ", ")), hint: hint, cause: lab.ErrNotCached}
}
