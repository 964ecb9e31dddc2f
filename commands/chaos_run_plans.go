package commands

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/an-open-reader/nats-reader/chaos/plan"
	"github.com/an-open-reader/nats-reader/chaos/target"
)

// What stands for every bundled plan, and for one on stdin.
const (
	allPlans  = "all"
	stdinPlan = "-"
)

// plansOf finds the plans of the arguments: bundled ones by name or tag, files, "all",
// and "-" for stdin. A bundled one that is named twice is there once.
func plansOf(arguments []string, stdin io.Reader) ([]plan.Plan, error) {
	if len(arguments) == 0 {
		return nil, usage{problem: "a plan is missing", hint: "nats-reader chaos run PLAN, such as deaf-after-power-outage; all runs every one that is bundled"}
	}
	var plans []plan.Plan
	bundled := map[string]bool{}
	for _, word := range arguments {
		found, err := plansNamed(word, stdin)
		if err != nil {
			return nil, err
		}
		for _, p := range found {
			ofFile := word == stdinPlan || isFile(word)
			if ofFile || !bundled[p.Name] {
				plans = append(plans, p)
			}
			bundled[p.Name] = bundled[p.Name] || !ofFile
		}
	}
	return plans, nil
}

func plansNamed(word string, stdin io.Reader) ([]plan.Plan, error) {
	switch {
	case word == allPlans:
		return plan.Bundled()
	case word == stdinPlan:
		text, err := io.ReadAll(stdin)
		if err != nil {
			return nil, fmt.Errorf("the plan on stdin: %w", err)
		}
		return onePlan(plan.Parse("stdin", text))
	case isFile(word):
		text, err := os.ReadFile(word)
		if err != nil {
			return nil, usage{problem: fmt.Sprintf("plan: %v", err), cause: err}
		}
		return onePlan(plan.Parse(word, text))
	}
	p, err := plan.Find(word)
	if err == nil {
		return []plan.Plan{p}, nil
	}
	tagged, tagErr := plan.Tagged(word)
	if tagErr != nil {
		return nil, tagErr
	}
	if len(tagged) > 0 {
		return tagged, nil
	}
	return nil, unknownPlan(word, err)
}

func onePlan(p plan.Plan, err error) ([]plan.Plan, error) {
	if err != nil {
		return nil, err
	}
	return []plan.Plan{p}, nil
}

// isFile says whether a word is a path and no name of a plan.
func isFile(word string) bool {
	if strings.ContainsAny(word, `/\`) {
		return true
	}
	return slices.ContainsFunc([]string{".yaml", ".yml", ".json"}, func(end string) bool { return strings.HasSuffix(word, end) })
}

// unknownPlan suggests names and tags.
func unknownPlan(word string, err error) error {
	var unknown *plan.UnknownError
	if !errors.As(err, &unknown) {
		return err
	}
	all, listErr := plan.Bundled()
	if listErr != nil {
		return listErr
	}
	known := []string{allPlans}
	for _, p := range all {
		known = append(known, p.Name)
		for _, tag := range p.Tags {
			if !slices.Contains(known, tag) {
				known = append(known, tag)
			}
		}
	}
	return usage{
		problem: fmt.Sprintf("no plan and no tag is called %q", word),
		hint:    didYouMean(word, known, "a file is named with its ending, such as my-plan.yaml; all runs every bundled plan"),
	}
}

// planProblems tells all that is wrong with a plan, each on a line, and ends the command.
func (p *program) planProblems(err error) error {
	var problems plan.Problems
	if !errors.As(err, &problems) || len(problems) == 0 {
		return err
	}
	last := len(problems) - 1
	for _, one := range problems[:last] {
		printError(p.stderr, usage{problem: one.Error()})
	}
	text := problems[last].Error()
	if before := strings.TrimSuffix(err.Error(), problems.Error()); problems[last].File == "" {
		text = before + text
	}
	return usage{problem: text, cause: err}
}

// targetProblem is what is wrong with the text of a target.
func targetProblem(err error) error {
	var wrong *target.Error
	u := usage{problem: "flag --" + flagTarget + ": " + err.Error(), cause: err}
	if errors.As(err, &wrong) {
		if near := wrong.Suggestions(); len(near) > 0 {
			u.hint = "did you mean " + strings.Join(near, " or ") + "?"
		}
	}
	return u
}

// overrideTarget puts the reader's flags in place of what a plan says of its target.
func overrideTarget(c *cli.Context, t *plan.Target) error {
	cfg, err := readerConfig(c)
	if err != nil {
		return err
	}
	for flag, set := range map[string]func(){
		flagHeartbeat:     func() { t.Heartbeat = cfg.Pull.Heartbeat },
		flagExpires:       func() { t.Expires = cfg.Pull.Expires },
		flagBatch:         func() { t.Batch = cfg.Pull.MaxMessages },
		flagOnError:       func() { t.OnError = onErrorWords.word(cfg.OnError) },
		flagOnMissed:      func() { t.OnMissed = onMissedWords.word(cfg.OnMissed) },
		flagOnReset:       func() { t.OnReset = onResetWords.word(cfg.OnReset) },
		flagWaitForStream: func() { t.WaitForStream = cfg.WaitForStream },
		flagRetryMax:      func() { t.RetryMax = cfg.Retry.Max },
		flagRetryTimeout:  func() { t.RetryTimeout = cfg.Retry.TotalTimeout },
		flagName:          func() { t.Consumer = cfg.Name },
		flagDurable:       func() { t.Durable = cfg.Durable },
	} {
		if c.IsSet(flag) {
			set()
		}
	}
	return nil
}
