package proxy

import (
	"math/rand/v2"
	"testing"
)

// Failure is one error of the JetStream API.
type Failure = apiFailure

// KnownFailures returns the errors that api-error knows by their code.
func KnownFailures() map[int]Failure {
	out := make(map[int]Failure)
	for errCode, known := range knownFailures {
		out[errCode] = Failure{Code: known.code, ErrCode: errCode, Description: known.text}
	}
	return out
}

// AnySplit returns the frames of a stream as text, and checks that they do not depend on how it is cut.
func AnySplit(t testing.TB, dir Direction, stream []byte) string {
	t.Helper()
	whole := parseChunks(dir, [][]byte{stream})
	if whole.bad != "" || whole.open {
		t.Fatalf("the stream is %s, %v:\n%s", whole.bad, whole.open, whole)
	}
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 5))
		if got := parseChunks(dir, chunked(stream, r, 1+int(seed*seed))).String(); got != whole.String() {
			t.Fatalf("cut with seed %d:\n%s\nwant:\n%s", seed, got, whole)
		}
	}
	return whole.String()
}

// Stream returns a stream of testdata by its name.
func Stream(t testing.TB, name string) []byte {
	t.Helper()
	stream := corpus(t)[name]
	if len(stream) == 0 {
		t.Fatalf("no stream %s in testdata", name)
	}
	return stream
}
