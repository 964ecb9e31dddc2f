package model_test

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/an-open-reader/nats-reader/chaos/lab"
	"github.com/an-open-reader/nats-reader/reader/session/simulate/model"
)

// answers is who answers a script.
type answers interface {
	// do carries out an order. Of one that is answered, want is what the other one
	// said: what takes its time is asked again until then.
	do(o *order, want string) string
	// hear gives the next n lines of the inboxes, or, of 0, what arrives within d.
	hear(n int, d time.Duration) []string
	// awaits gives what arrives until n lines came: want of them for sure, and the
	// others if they are not long in coming.
	awaits(want, n int) []string
}

// play gives the answers to a scene, by its orders.
func (s *scene) play(a answers, want [][]string) (all [][]string) {
	for i := range s.orders {
		o := &s.orders[i]
		var said []string
		switch o.verb {
		case "hear":
			n := whole(o.word(0))
			if want == nil {
				said = a.hear(n, patience)
			} else {
				said = a.awaits(len(want[i]), n)
			}
			for i := range said {
				if o.has("bare") {
					said[i], _, _ = strings.Cut(said[i], " pending=")
				}
			}
		case "quiet":
			said = a.hear(0, lasting(o.word(0)))
			if want != nil && len(said) < len(want[i]) {
				said = append(said, a.hear(len(want[i])-len(said), patience)...) // it is late
			}
		default:
			other := ""
			if want != nil && len(want[i]) > 0 {
				other = want[i][0]
			}
			if text := a.do(o, other); text != "" {
				said = []string{text}
			}
		}
		all = append(all, said)
	}
	return all
}

// TestAnswers runs one script of requests on the model and on a real server: the
// answers must be equal. The server is the embedded one, or that of the version that
// the lab's variables name.
func TestAnswers(t *testing.T) {
	server, err := lab.Start(t.Context(), lab.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	era := eraOf(t, server)
	var running sync.WaitGroup
	turns := make(chan struct{}, 32)
	for _, s := range readScript(t, "answers.txt") {
		modelSays := s.play(newModelled(era, s.stream), nil)
		running.Go(func() {
			turns <- struct{}{}
			defer func() { <-turns }()
			s.compare(t, era, modelSays, s.play(newReal(t, server, s.stream), modelSays))
		})
	}
	running.Wait()
}

// TestRestarts does the same with servers that stop and start again, each a case's own.
func TestRestarts(t *testing.T) {
	var running sync.WaitGroup
	for _, s := range readScript(t, "restarts.txt") {
		running.Go(func() {
			server, err := lab.Start(t.Context(), lab.Options{})
			if err != nil {
				t.Error(err)
				return
			}
			defer func() {
				if err := server.Close(); err != nil {
					t.Error(err)
				}
			}()
			era := eraOf(t, server)
			modelSays := s.play(newModelled(era, s.stream), nil)
			r := newReal(t, server, s.stream)
			defer r.close()
			s.compare(t, era, modelSays, s.play(r, modelSays))
		})
	}
	running.Wait()
}

// compare tells where a scene's answers begin to differ.
func (s *scene) compare(t *testing.T, era model.Era, modelSays, serverSays [][]string) {
	for i, o := range s.orders {
		if slices.Equal(modelSays[i], serverSays[i]) {
			continue
		}
		t.Errorf("%s\n%s, after\n\t%s\nnats-server %s says\n\t%s\nthe model\n\t%s", s.title, o.line, before(s, i), era.Version,
			strings.Join(serverSays[i], "\n\t"), strings.Join(modelSays[i], "\n\t"))
		return
	}
}

func before(s *scene, i int) string {
	var lines []string
	for _, o := range s.orders[:i] {
		lines = append(lines, o.line)
	}
	return strings.Join(lines, "\n\t")
}

func eraOf(t *testing.T, server *lab.Server) model.Era {
	t.Helper()
	version, err := server.Version(t.Context())
	if err != nil {
		t.Error(err)
	}
	era, ok := model.EraOf(version)
	if !ok {
		t.Errorf("the model does not know nats-server %s: measure what differs and add it to model.Eras", version)
	}
	return era
}
