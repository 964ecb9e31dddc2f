package commands

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/urfave/cli/v2"

	"github.com/an-open-reader/nats-reader/chaos/plan"
)

const validateSchema = "nats-reader/validate/v1"

const validateDescription = `Every problem of every file, one a line: file:line:column, the path of the
field, what is wrong and what is allowed. Nothing is run. - is standard input.
Exit code 0: all are plans; 3: some are not.`

var chaosValidateExamples = []example{
	{line: "nats-reader chaos validate my-plan.yaml", about: "a file", needs: needPlan},
	{line: "nats-reader chaos validate --json - < my-plan.yaml", about: "what a pipe brings, for programs", needs: needPlan},
}

func (p *program) chaosValidateCommand() *cli.Command {
	return &cli.Command{
		Name: "validate", Usage: "all that is wrong with plans", ArgsUsage: "FILE...", Description: validateDescription,
		Flags: []cli.Flag{
			formatFlag(),
			boolFlag(flagJSON, "", "short for --format json"),
		},
		Action: p.chaosValidate,
	}
}

// validatedJSON is what became of one file.
type validatedJSON struct {
	File     string        `json:"file"`
	Name     string        `json:"name,omitempty"` // of the plan
	Valid    bool          `json:"valid"`
	Problems plan.Problems `json:"problems"`
}

func (p *program) chaosValidate(c *cli.Context) error {
	asJSON, err := wantsJSON(c)
	if err != nil {
		return err
	}
	if c.NArg() == 0 {
		return usage{problem: "a file is missing", hint: "nats-reader chaos validate FILE..."}
	}
	var files []validatedJSON
	problems, bad := 0, 0
	for _, word := range c.Args().Slice() {
		one := p.validate(word)
		files = append(files, one)
		if !one.Valid {
			bad++
			problems += len(one.Problems)
		}
	}
	if err := printValidated(p.stdout, files, asJSON); err != nil {
		return err
	}
	if bad > 0 {
		return usage{problem: fmt.Sprintf("%s in %d of %s", counted(problems, "problem"), bad, counted(len(files), "file")), hint: "each line says where it is, and what is allowed"}
	}
	return nil
}

// validate reads one file; what cannot be read is a problem of it.
func (p *program) validate(word string) validatedJSON {
	name, text, err := p.readPlan(word)
	one := validatedJSON{File: name, Problems: plan.Problems{}}
	if err != nil {
		var path *fs.PathError
		if errors.As(err, &path) {
			err = path.Err
		}
		why := plan.Problem{File: name, Text: err.Error()}
		if _, found := plan.Find(word); found == nil {
			why.Text += ": the plan that the program brings under this name is in order"
		}
		one.Problems = append(one.Problems, why)
		return one
	}
	read, err := plan.Parse(name, text)
	if err == nil {
		_, err = read.Resolve(0)
	}
	var all plan.Problems
	if errors.As(err, &all) {
		for i := range all {
			all[i].File = name
		}
		one.Problems = all
		return one
	}
	one.Name, one.Valid = read.Name, true
	return one
}

func printValidated(w io.Writer, files []validatedJSON, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(w).Encode(struct {
			Schema string          `json:"schema"`
			Files  []validatedJSON `json:"files"`
		}{validateSchema, files})
	}
	for _, f := range files {
		text := fmt.Sprintf("%s: plan %s is in order\n", f.File, f.Name)
		if !f.Valid {
			text = f.Problems.Error() + "\n"
		}
		if _, err := io.WriteString(w, text); err != nil {
			return err
		}
	}
	return nil
}
