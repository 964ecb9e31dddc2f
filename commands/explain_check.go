package commands

import (
	"fmt"

	"github.com/an-open-reader/nats-reader/reader/doctor"
)

// checkEntries are the checks of doctor, with the texts that they are found with.
func checkEntries() []entry {
	var all []entry
	for _, c := range doctor.Checks() {
		all = append(all, entry{
			Topic: topicCheck, Word: c.ID, Text: c.Title,
			Means:  fmt.Sprintf("%s At worst: %s.", c.Means, c.Severity),
			Reader: c.Why, Do: c.Do,
		})
	}
	return all
}

// checkWords are the ids of the checks.
func checkWords() (ids []string) {
	for _, c := range doctor.Checks() {
		ids = append(ids, c.ID)
	}
	return ids
}
