package proxy

var bandwidth = Entry{
	Name:  "bandwidth",
	Where: "whole connections, new ones too",
	Words: "only so many bytes a second arrive on each connection and direction; the rest waits in the sender's buffers",
	Undo:  "bytes arrive at full speed",
	Parameters: []Parameter{
		{Name: "rate", Type: Count, Default: "100000", Words: "bytes a second"},
		directionParameter, connParameter,
	},
	build: func(a *arguments) (effect, error) {
		rate := argument[uint64](a, "rate")
		if rate > maxRate {
			return nil, a.wrong("rate", "want at most 1000000000000 bytes a second")
		}
		return newShaper(a, shape{rate: float64(rate)}), nil
	},
}

const maxRate = 1e12
