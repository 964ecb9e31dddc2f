// Package readerprom shows readers to Prometheus, and tells an orchestrator
// whether they read.
//
// A Collector looks at any number of readers when it is scraped:
//
//	metrics := readerprom.New(readerprom.Options{})
//	prometheus.MustRegister(metrics)
//	cfg, err := metrics.Observe("orders", reader.Config{Stream: "ORDERS"})
//	r, err := reader.Open(ctx, js, cfg)
//	err = metrics.Add("orders", r)
//	http.Handle("/metrics", promhttp.Handler())
//	http.Handle("/readyz", metrics.Readyz())
//	http.Handle("/livez", metrics.Livez())
//
// Figures come from Reader.Status at the moment of a scrape. Status has no history of
// deafness, so Observe also follows the reader's events: how long each replacement
// left it deaf, and why it is deaf now. A reader that was added without Observe has
// all but the two series of that history.
//
// Every series has the labels reader, a name that the program chooses, and stream.
// Neither grows with what is read. The consumer's name is no label, since each session
// has another one: a reader that is replaced every minute would make 1,440 sets of
// series a day. Nor is a subject, whose number the publishers decide, nor an error's text.
//
// A reader has about 70 series: 17 causes, 9 states, 8 kinds of requests and a
// histogram among them. All exist from the start, so that the first increase of a
// counter is seen.
package readerprom
