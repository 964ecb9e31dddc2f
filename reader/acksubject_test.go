package reader

import "testing"

func TestAckSubjectIsReadInEveryForm(t *testing.T) {
	numbers := ackSubject{delivered: 2, sequence: 30, consumerSeq: 4, timestamp: 1700000000123456789, pending: 0}
	with := func(domain, stream, consumer string) ackSubject {
		a := numbers
		a.domain, a.stream, a.consumer = domain, stream, consumer
		return a
	}
	for _, c := range []struct {
		subject string
		want    ackSubject
	}{
		{"$JS.ACK.S.c-1.2.30.4.1700000000123456789.0", with("", "S", "c-1")},
		{"$JS.ACK.1.2.2.30.4.1700000000123456789.0", with("", "1", "2")},
		{"$JS.ACK._.HASH.S.c-1.2.30.4.1700000000123456789.0", with("", "S", "c-1")},
		{"$JS.ACK.hub.HASH.S.c-1.2.30.4.1700000000123456789.0", with("hub", "S", "c-1")},
		{"$JS.ACK.hub.HASH.S.c-1.2.30.4.1700000000123456789.0.x", with("hub", "S", "c-1")},
		{"$JS.ACK.hub.HASH.S.c-1.2.30.4.1700000000123456789.0.x.y.z", with("hub", "S", "c-1")},
		// All but the number of tokens fits the short form.
		{"$JS.ACK.5.6.1.2.2.30.4.1700000000123456789.0", with("5", "1", "2")},
		{"$JS.ACK.5.6.1.2.2.30.4.1700000000123456789.0.7", with("5", "1", "2")},
	} {
		if a, ok := parseAckSubject(c.subject); !ok || a != c.want {
			t.Errorf("%s is read as %+v, %v; want %+v", c.subject, a, ok, c.want)
		}
	}
}

func TestOtherSubjectsAreNoAckSubjects(t *testing.T) {
	for _, subject := range []string{
		"", "orders.new", "$JS.ACK", "$JS.ACK.", "$JS.ACK.S", "$JS.ACK.S.c", "$JS.ACK.S.c.1.2.3.4", "$JS.ACK.S.c.1.2.3.4.",
		"$JS.ACK.S.c.1.2.3.4.5.", "$JS.ACK.S.c.1.2.3.4.5.6", "$JS.ACK.S.c.1.2.3.4.x", "$JS.ACK.S.c.1.2.3.4.5x", "$JS.ACK.S.c.1..3.4.5",
		"$JS.ACK.S.c.1.2.3.-4.5", "$JS.ACK.S.c.1.2.3.12345678901234567890.5", "$JS.ACK.S.c.1.2.3.4.00000000000000000000",
		"$JS.ACK.hub.HASH.S.c.1.2.3.4", "$JS.ACK.hub.HASH.S.c.1.2.3.4.", "$JS.ACK.hub.HASH.S.c.1.2.3.4.5x", "$JS.ACK.hub.HASH.S.c.1.2.x.4.5.6",
		"$JS.API.S.c.1.2.3.4.5",
	} {
		if a, ok := parseAckSubject(subject); ok {
			t.Errorf("%q is read as %+v", subject, a)
		}
	}
}
