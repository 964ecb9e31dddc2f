package reader

import (
	"encoding/json"
	"time"
)

// StatusSchema is the schema field of a Status's JSON.
const StatusSchema = "nats-reader/status/v1"

// MarshalJSON gives the status with its schema.
func (s Status) MarshalJSON() ([]byte, error) {
	type plain Status
	return json.Marshal(struct {
		Schema string `json:"schema"`
		plain
	}{StatusSchema, plain(s)})
}

// MarshalJSON gives the budget as a Go duration beside its nanoseconds.
func (s RetryStatus) MarshalJSON() ([]byte, error) {
	out := struct {
		Attempt      int       `json:"attempt"`
		NextAt       time.Time `json:"next_at,omitzero"`
		BudgetLeft   string    `json:"budget_left,omitempty"`
		BudgetLeftNS int64     `json:"budget_left_ns,omitempty"`
	}{Attempt: s.Attempt, NextAt: s.NextAt, BudgetLeftNS: int64(s.BudgetLeft)}
	if s.BudgetLeft > 0 {
		out.BudgetLeft = s.BudgetLeft.String()
	}
	return json.Marshal(out)
}
