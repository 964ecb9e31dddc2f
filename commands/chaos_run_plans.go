package commands

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/an-open-reader/nats-reader/chaos/plan"
	"github.com/an-open-reader/nats-reader/chaos/target"
)

// allPlans stands for every plan that the program brings.
const allPlans = "all"

// plansOf finds the plans of the arguments: those that the program brings by name, by tag
// or all, and files. One that it brings is there once, however often it is named.
func (p *program) plansOf(arguments []string) ([]plan.Plan, error) {
	if len(arguments) == 0 {
		return nil, usage{problem: "a plan is missing", hint: "nats-reader chaos run deaf-after-power-outage; all runs every one; nats-reader chaos list --plans lists them"}
	}
	var plans []plan.Plan
	bundled := map[string]bool{}
	for _, word := range arguments {
		if isPlanFile(word) {
			one, err := p.loadPlan(word)
			if err != nil {
				return nil, err
			}
			plans = append(plans, one)
			continue
		}
		found, err := p.bundledPlans(word)
		if err != nil {
			return nil, err
		}
		for _, one := range found {
			if !bundled[one.Name] {
				bundled[one.Name] = true
				plans = append(plans, one)
			}
		}
	}
	return plans, nil
}

// filesOf are the files of the arguments by the names of their plans. They have been read
// before.
func (p *program) filesOf(arguments []string) map[string]string {
	files := map[string]string{}
	for _, word := range arguments {
		if !isPlanFile(word) || word == standardInput {
			continue
		}
		if one, err := p.loadPlan(word); err == nil {
			files[one.Name] = word
		}
	}
	return files
}

// bundledPlans are those of a name or a tag, or all.
func (p *program) bundledPlans(word string) ([]plan.Plan, error) {
	if word == allPlans {
		return plan.Bundled()
	}
	one, err := p.loadPlan(word)
	if err == nil {
		return []plan.Plan{one}, nil
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

// unknownPlan adds what may have been meant by a word that is no tag either.
func unknownPlan(word string, err error) error {
	var u usage
	if !errors.As(err, &u) {
		return err
	}
	all, listErr := plan.Bundled()
	if listErr != nil {
		return listErr
	}
	words := []string{allPlans}
	for _, p := range all {
		for _, w := range append([]string{p.Name}, p.Tags...) {
			if !slices.Contains(words, w) {
				words = append(words, w)
			}
		}
	}
	u.problem = fmt.Sprintf("no plan and no tag is called %q", word)
	u.hint = didYouMean(word, words, u.hint)
	return u
}

// unresolved is a plan that the flags of the command line, or a seed, make impossible.
func unresolved(name string, err error) error {
	var all plan.Problems
	if errors.As(err, &all) && len(all) > 0 {
		return usage{problem: fmt.Sprintf("plan %s: %s", name, all[0].Error()), cause: err}
	}
	return fmt.Errorf("plan %s: %w", name, err)
}

// targetProblem is what is wrong with the text of a target.
func targetProblem(flag string, err error) error {
	var wrong *target.Error
	u := usage{problem: "flag --" + flag + ": " + err.Error(), cause: err}
	if errors.As(err, &wrong) {
		u.hint = "exec:CMD is any program that prints the ids it reads; the others are readers of this process, some with parameters: consume(durable=false)"
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
