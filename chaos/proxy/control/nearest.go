package control

// nearest gives the known word that a mistyped one may have meant: the one that differs in the fewest
// letters, if that is no more than about a third of them; otherwise "".
func nearest(word string, known []string) string {
	best, least := "", (len(word)+3)/3+1
	for _, k := range known {
		if d := distance(word, k); d < least {
			best, least = k, d
		}
	}
	return best
}

// distance counts the letters to put in, take out or change to make a into b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
