package reader

import (
	"encoding/json"
	"fmt"
	"time"
)

// PositionSchema is the schema field of a Position's JSON.
const PositionSchema = "nats-reader/position/v1"

// Position is a place in a stream that FromPosition resumes after. StreamCreated
// and Time make sure that it is still the same stream and the same message.
type Position struct {
	Stream        string    // name of the stream
	StreamCreated time.Time // when the stream was created; zero: unknown
	Sequence      uint64    // stream sequence of the last message handed out; 0: none yet
	Time          time.Time // when that message was stored; zero: unknown
}

type positionJSON struct {
	Schema        string     `json:"schema"`
	Stream        string     `json:"stream"`
	StreamCreated *time.Time `json:"stream_created,omitempty"`
	Sequence      uint64     `json:"sequence"`
	Time          *time.Time `json:"time,omitempty"`
}

// MarshalJSON gives {schema, stream, stream_created, sequence, time}.
func (p Position) MarshalJSON() ([]byte, error) {
	return json.Marshal(positionJSON{
		Schema: PositionSchema, Stream: p.Stream, Sequence: p.Sequence,
		StreamCreated: timeOrNil(p.StreamCreated), Time: timeOrNil(p.Time),
	})
}

// UnmarshalJSON reads what MarshalJSON wrote and refuses another schema.
func (p *Position) UnmarshalJSON(data []byte) error {
	var j positionJSON
	if err := json.Unmarshal(data, &j); err != nil {
		return fmt.Errorf("position: %w", err)
	}
	if j.Schema != PositionSchema {
		return fmt.Errorf("position: schema %q is not %q", j.Schema, PositionSchema)
	}
	*p = Position{Stream: j.Stream, Sequence: j.Sequence}
	if j.StreamCreated != nil {
		p.StreamCreated = *j.StreamCreated
	}
	if j.Time != nil {
		p.Time = *j.Time
	}
	return nil
}

func timeOrNil(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	u := t.UTC()
	return &u
}
