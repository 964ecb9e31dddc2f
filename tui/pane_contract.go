package tui

// drawContract is each promise with the figure it is judged by. Where there is little room, what is not kept
// comes first, with its reasons.
func (m *Model) drawContract(w, h int) []string {
	c := m.current().contract
	if c == nil {
		return []string{"not judged yet"}
	}
	var why []string
	for _, reason := range c.Why {
		for _, part := range wrap("because: "+m.look.text(reason), w) {
			why = append(why, m.look.paint(roleBad, part))
		}
	}
	var all, bad, good []string
	for _, p := range c.Promises {
		one := map[Mark]role{Kept: roleGood, Broken: roleBad, Unknown: roleWarn, Open: roleDim}[p.Mark]
		text := m.look.fit(string(p.Mark), 7) + " " + m.look.text(p.Words)
		line := m.look.paint(one, m.look.ends(text, m.look.text(p.Figure), w))
		all = append(all, line)
		if p.Mark == Kept || p.Mark == Open {
			good = append(good, line)
		} else {
			bad = append(bad, line)
		}
	}
	if len(all)+len(why) <= h {
		return append(all, why...)
	}
	return append(append(bad, why...), good...)
}
