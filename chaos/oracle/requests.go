package oracle

import "maps"

// maxRequestKinds bounds what a stray target can make the oracle remember.
const maxRequestKinds = 64

// requests counts JetStream API requests, whole seconds of them in a minute.
type requests struct {
	total  uint64
	most   uint64 // in one minute
	kinds  map[string]uint64
	minute [60]uint64 // by second
	second int64      // the newest
}

// add counts one request at a time in nanoseconds. One that is older than the minute counts in the total alone.
func (r *requests) add(kind string, at int64) {
	r.total++
	if r.kinds == nil {
		r.kinds = map[string]uint64{}
	}
	if _, known := r.kinds[kind]; !known && len(r.kinds) >= maxRequestKinds {
		kind = "other"
	}
	r.kinds[kind]++
	second := at / 1e9
	switch {
	case second >= r.second+60:
		r.minute = [60]uint64{}
	case second > r.second:
		for s := r.second + 1; s <= second; s++ {
			r.minute[s%60] = 0
		}
	case second <= r.second-60:
		return
	}
	r.second = max(r.second, second)
	r.minute[second%60]++
	sum := uint64(0)
	for _, n := range r.minute {
		sum += n
	}
	r.most = max(r.most, sum)
}

func (r *requests) byKind() map[string]uint64 { return maps.Clone(r.kinds) }
