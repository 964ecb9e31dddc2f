package alerts

import (
	"slices"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/util/annotations"
)

// memory holds series for the engine.
type memory []promql.Series

// add reads a series and its values in promtool's notation, the first of them at the time 0.
func (m *memory) add(p parser.Parser, text string, every time.Duration) error {
	of, values, err := p.ParseSeriesDesc(text)
	if err != nil {
		return err
	}
	s := promql.Series{Metric: of}
	for i, v := range values {
		if !v.Omitted {
			s.Floats = append(s.Floats, promql.FPoint{T: int64(i) * every.Milliseconds(), F: v.Value})
		}
	}
	*m = append(*m, s)
	return nil
}

// Querier gives the series that match.
func (m memory) Querier(int64, int64) (storage.Querier, error) {
	return &storage.MockQuerier{SelectMockFunction: func(_ bool, _ *storage.SelectHints, matchers ...*labels.Matcher) storage.SeriesSet {
		var found []storage.Series
		for _, s := range m {
			if !slices.ContainsFunc(matchers, func(by *labels.Matcher) bool { return !by.Matches(s.Metric.Get(by.Name)) }) {
				found = append(found, promql.NewStorageSeries(s))
			}
		}
		slices.SortFunc(found, func(a, b storage.Series) int { return labels.Compare(a.Labels(), b.Labels()) })
		return &set{found: found, at: -1}
	}}, nil
}

var _ storage.Queryable = memory{}

// set goes through series.
type set struct {
	found []storage.Series
	at    int
}

func (s *set) Next() bool                      { s.at++; return s.at < len(s.found) }
func (s *set) At() storage.Series              { return s.found[s.at] }
func (*set) Err() error                        { return nil }
func (*set) Warnings() annotations.Annotations { return nil }
