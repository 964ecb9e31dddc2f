package oracle

import (
	"bytes"
	"encoding/json"
	"time"
)

// strictly decodes a document in which every field must be known.
func strictly(b []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	return d.Decode(into)
}

type (
	plainVerdict Verdict
	verdictJSON  struct {
		plainVerdict
		LongestDeafText    string `json:"longest_deaf"`
		LongestSilenceText string `json:"longest_silence"`
		AllowanceText      string `json:"allowance"`
		CountedOrphans     *int   `json:"orphans"` // null: could not be counted
	}
)

// MarshalJSON writes durations as Go strings beside their nanoseconds, and orphans that could not be counted as null.
func (v Verdict) MarshalJSON() ([]byte, error) {
	j := verdictJSON{plainVerdict(v), v.LongestDeaf.String(), v.LongestSilence.String(), v.Allowance.String(), nil}
	if v.Orphans != NotCounted {
		j.CountedOrphans = &v.Orphans
	}
	return json.Marshal(j)
}

// UnmarshalJSON reads what MarshalJSON writes, and refuses fields that are not known.
func (v *Verdict) UnmarshalJSON(b []byte) error {
	var j verdictJSON
	if err := strictly(b, &j); err != nil {
		return err
	}
	*v = Verdict(j.plainVerdict)
	if v.Orphans = NotCounted; j.CountedOrphans != nil {
		v.Orphans = *j.CountedOrphans
	}
	return nil
}

type (
	plainLimits Limits
	limitsJSON  struct {
		plainLimits
		DeafText     string `json:"deaf,omitempty"`
		SilenceText  string `json:"silence,omitempty"`
		RecoveryText string `json:"recovery,omitempty"`
	}
)

func textOf(d *time.Duration) string {
	if d == nil {
		return ""
	}
	return d.String()
}

// MarshalJSON writes durations as Go strings beside their nanoseconds.
func (l Limits) MarshalJSON() ([]byte, error) {
	return json.Marshal(limitsJSON{plainLimits(l), textOf(l.Deaf), textOf(l.Silence), textOf(l.Recovery)})
}

// UnmarshalJSON reads what MarshalJSON writes, and refuses fields that are not known.
func (l *Limits) UnmarshalJSON(b []byte) error {
	var j limitsJSON
	err := strictly(b, &j)
	*l = Limits(j.plainLimits)
	return err
}

type (
	plainRecovery Recovery
	recoveryJSON  struct {
		plainRecovery
		TookText string `json:"took"`
	}
)

// MarshalJSON writes the duration as a Go string beside its nanoseconds.
func (r Recovery) MarshalJSON() ([]byte, error) {
	return json.Marshal(recoveryJSON{plainRecovery(r), r.Took.String()})
}

// UnmarshalJSON reads what MarshalJSON writes, and refuses fields that are not known.
func (r *Recovery) UnmarshalJSON(b []byte) error {
	var j recoveryJSON
	err := strictly(b, &j)
	*r = Recovery(j.plainRecovery)
	return err
}

type (
	plainSession Session
	sessionJSON  struct {
		plainSession
		DeafText string `json:"deaf"`
		TookText string `json:"took"`
	}
)

// MarshalJSON writes durations as Go strings beside their nanoseconds.
func (s Session) MarshalJSON() ([]byte, error) {
	return json.Marshal(sessionJSON{plainSession(s), s.Deaf.String(), s.Took.String()})
}

// UnmarshalJSON reads what MarshalJSON writes, and refuses fields that are not known.
func (s *Session) UnmarshalJSON(b []byte) error {
	var j sessionJSON
	err := strictly(b, &j)
	*s = Session(j.plainSession)
	return err
}

type (
	plainSeries Series
	seriesJSON  struct {
		plainSeries
		StepText string `json:"step"`
	}
)

// MarshalJSON writes the duration as a Go string beside its nanoseconds.
func (s Series) MarshalJSON() ([]byte, error) {
	return json.Marshal(seriesJSON{plainSeries(s), s.Step.String()})
}

// UnmarshalJSON reads what MarshalJSON writes, and refuses fields that are not known.
func (s *Series) UnmarshalJSON(b []byte) error {
	var j seriesJSON
	err := strictly(b, &j)
	*s = Series(j.plainSeries)
	return err
}
