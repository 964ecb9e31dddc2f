package commands

import (
	"cmp"
	"errors"

	"github.com/an-open-reader/nats-reader/reader"
)

// observe makes room for a reader among the metrics, and has its events followed.
func (m *metrics) observe(name string, cfg *reader.Config) error {
	if m == nil {
		return nil
	}
	followed, err := m.readers.Observe(metricsName(name, *cfg), reader.Config{Stream: cfg.Stream})
	if err != nil {
		return err
	}
	next := cfg.Observer
	cfg.Observer = func(e reader.Event) {
		followed.Observer(withoutSecrets(e))
		if next != nil {
			next(e)
		}
	}
	return nil
}

// add shows a reader that is open.
func (m *metrics) add(name string, cfg reader.Config, r *reader.Reader) error {
	if m == nil {
		return nil
	}
	return m.readers.Add(metricsName(name, cfg), shownReader{r})
}

// metricsName is the label of a reader: its name among several, and else that of what it reads.
func metricsName(name string, cfg reader.Config) string {
	return cmp.Or(name, cfg.Durable, cfg.Name, cfg.Stream, "reader")
}

// shownReader is a reader whose errors are shown to whoever asks: without secrets.
type shownReader struct{ *reader.Reader }

func (r shownReader) Status() reader.Status {
	s := r.Reader.Status()
	s.LastError = redact(s.LastError)
	return s
}

func (r shownReader) Err() error { return withoutSecret(r.Reader.Err()) }

func withoutSecrets(e reader.Event) reader.Event {
	e.Err, e.Text = withoutSecret(e.Err), redact(e.Text)
	return e
}

// withoutSecret keeps what an error is, and takes the secrets out of its text.
func withoutSecret(err error) error {
	if err == nil || errors.Is(err, reader.ErrClosed) {
		return err
	}
	return errors.New(redact(err.Error()))
}
