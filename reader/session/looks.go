package session

// looks shares STREAM.INFO among the readers of a connection (rule 16). Of one
// stream there is one look under way, and who asks meanwhile shares the next one:
// an answer counts for those only who asked before it was sent. A stream that was
// re-created between a create and an older look would be read deaf (rule 8).
type looks struct {
	of map[string]*look // by the request's subject
}

type look struct {
	asking int  // those who share the next one
	due    bool // somebody is to send the next one
	away   bool // one is under way
}

// Look asks to share the next look. send tells the caller to send it.
func (s *looks) Look(subject string) (send bool) {
	if s.of == nil {
		s.of = map[string]*look{}
	}
	l := s.of[subject]
	if l == nil {
		l = &look{}
		s.of[subject] = l
	}
	l.asking++
	return s.next(l)
}

func (s *looks) next(l *look) (send bool) {
	if l.away || l.due || l.asking == 0 {
		return false
	}
	l.due = true
	return true
}

// LookSent notes that the look that was due is under way: who asks from here on
// shares another one.
func (s *looks) LookSent(subject string) {
	if l := s.of[subject]; l != nil {
		l.asking, l.due, l.away = 0, false, true
	}
}

// LookOver notes that the look under way was answered, or is waited for no longer.
// send tells the caller to send the next one.
func (s *looks) LookOver(subject string) (send bool) {
	l := s.of[subject]
	if l == nil {
		return false
	}
	l.away = false
	s.tidy(subject, l)
	return s.next(l)
}

// LookLeft is for all who shared the next look: nobody wants it any more.
func (s *looks) LookLeft(subject string) {
	if l := s.of[subject]; l != nil {
		l.asking, l.due = 0, false
		s.tidy(subject, l)
	}
}

func (s *looks) tidy(subject string, l *look) {
	if !l.away && !l.due && l.asking == 0 {
		delete(s.of, subject)
	}
}
