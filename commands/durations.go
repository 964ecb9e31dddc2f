package commands

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"time"

	"github.com/urfave/cli/v2"
)

const aDuration = "a duration such as 250ms, 2s or 1h"

// calendarUnits are natscli's units beside Go's: a month has 30 days, a year 365.
var calendarUnits = map[string]time.Duration{
	"d": 24 * time.Hour, "D": 24 * time.Hour, "w": 7 * 24 * time.Hour, "W": 7 * 24 * time.Hour,
	"M": 30 * 24 * time.Hour, "y": 365 * 24 * time.Hour, "Y": 365 * 24 * time.Hour,
}

var (
	wholeDuration  = regexp.MustCompile(`^-?([0-9]+(\.[0-9]+)?[a-zA-Zµ]+)+$`)
	partOfDuration = regexp.MustCompile(`([0-9]+(?:\.[0-9]+)?)([a-zA-Zµ]+)`)
)

// parseDuration reads a duration in Go's units and natscli's: 1d12h.
func parseDuration(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err == nil || !wholeDuration.MatchString(text) {
		return d, err
	}
	for _, part := range partOfDuration.FindAllStringSubmatch(text, -1) {
		unit, calendar := calendarUnits[part[2]]
		if !calendar {
			one, err := time.ParseDuration(part[0])
			if err != nil {
				return 0, err
			}
			d += one
			continue
		}
		n, err := strconv.ParseFloat(part[1], 64)
		if err != nil {
			return 0, err
		}
		if n*float64(unit) > float64(1<<62) {
			return 0, fmt.Errorf("%s is more than a duration can hold", part[0])
		}
		d += time.Duration(n * float64(unit))
	}
	if text[0] == '-' {
		d = -d
	}
	if d < 0 != (text[0] == '-') && d != 0 {
		return 0, fmt.Errorf("%s is more than a duration can hold", text)
	}
	return d, nil
}

// inHours writes a duration of natscli's as one that Go reads; others stay as they are.
func inHours(text string) string {
	if _, err := time.ParseDuration(text); err == nil {
		return text
	}
	if d, err := parseDuration(text); err == nil {
		return d.String()
	}
	return text
}

// readDurations takes over from urfave/cli the durations in variables that it cannot read,
// or refuses them by the variable's name.
func readDurations(commands []*cli.Command) error {
	for _, c := range leavesOf(commands) {
		for _, f := range c.command.Flags {
			d, isDuration := f.(*cli.DurationFlag)
			if !isDuration {
				continue
			}
			for _, variable := range d.EnvVars {
				text := os.Getenv(variable)
				if _, err := time.ParseDuration(text); text == "" || err == nil {
					continue
				}
				value, err := parseDuration(text)
				if err != nil {
					return usage{problem: fmt.Sprintf("variable %s: %q is not %s", variable, text, aDuration), hint: "it stands for --" + d.Name, cause: err}
				}
				d.Value, d.HasBeenSet, d.EnvVars = value, true, nil
			}
		}
	}
	return nil
}
