package commands

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/an-open-reader/nats-reader/chaos"
	"github.com/an-open-reader/nats-reader/chaos/proxy"
)

const faultsSchema = "nats-reader/faults/v1"

// parameterJSON is one parameter of a fault.
type parameterJSON struct {
	Name    string   `json:"name"`
	Type    string   `json:"type"`
	Default string   `json:"default,omitempty"`
	Allowed []string `json:"allowed,omitempty"`
	Words   string   `json:"words"`
}

// faultEntryJSON is one fault of the catalogue.
type faultEntryJSON struct {
	Name        string          `json:"name"`
	Layer       string          `json:"layer"`
	Does        string          `json:"does"`
	Where       string          `json:"where"`
	Danger      string          `json:"danger"`
	Undo        string          `json:"undo"`
	Reversible  bool            `json:"reversible"`
	Destructive bool            `json:"destructive"`
	Once        bool            `json:"once"`
	Default     string          `json:"default,omitempty"` // how long it lasts where nothing is said
	DefaultNS   int64           `json:"default_ns,omitempty"`
	Example     string          `json:"example"`
	Parameters  []parameterJSON `json:"parameters"`
}

// printCatalogue lists every fault.
func printCatalogue(w io.Writer, asJSON bool) error {
	if asJSON {
		doc := struct {
			Schema string           `json:"schema"`
			Faults []faultEntryJSON `json:"faults"`
		}{Schema: faultsSchema}
		for _, f := range chaos.Faults() {
			doc.Faults = append(doc.Faults, faultDocument(f))
		}
		return json.NewEncoder(w).Encode(doc)
	}
	var text strings.Builder
	var layer chaos.Layer
	for _, f := range chaos.Faults() {
		if f.Layer != layer {
			layer = f.Layer
			fmt.Fprintf(&text, "%s: %s\n\n", strings.ToUpper(string(layer)), layerWords[layer])
		}
		describeFault(&text, f)
	}
	_, err := io.WriteString(w, text.String())
	return err
}

// layerWords say how one reaches a layer.
var layerWords = map[chaos.Layer]string{
	chaos.LayerWire:    "watch --inject, proxy --fault, inject --proxy URL",
	chaos.LayerServer:  "watch --inject, inject FAULT STREAM",
	chaos.LayerProcess: "watch --demo --inject, on nodes with --demo-nodes 3",
	chaos.LayerReader:  "watch --inject; freeze-reader with an outside program as the reader",
}

func faultDocument(f chaos.Fault) faultEntryJSON {
	j := faultEntryJSON{
		Name: f.Name, Layer: string(f.Layer), Does: f.Does, Where: f.Where, Danger: f.Danger, Undo: f.Undo,
		Reversible: f.Reversible, Destructive: f.Destructive, Once: f.Once, Example: faultExample(f), Parameters: []parameterJSON{},
	}
	if f.Default > 0 {
		j.Default, j.DefaultNS = f.Default.String(), int64(f.Default)
	}
	for _, q := range f.Parameters {
		j.Parameters = append(j.Parameters, parameterJSON{Name: q.Name, Type: string(q.Type), Default: q.Default, Allowed: q.Allowed, Words: q.Words})
	}
	return j
}

func describeFault(w io.Writer, f chaos.Fault) {
	title := f.Name
	if f.Destructive {
		title += "  (destructive)"
	}
	length := "until it is undone; with inject for " + defaultInject.String()
	switch {
	case f.Once:
		length = "acts once"
	case f.Default > 0:
		length = f.Default.String()
	}
	fmt.Fprintln(w, title)
	said := func(head, text string) {
		fmt.Fprintf(w, "  %-8s%s\n", head, fold(text, len("  danger: ")))
	}
	said("does:", f.Does)
	said("where:", f.Where)
	said("danger:", f.Danger)
	said("undo:", f.Undo)
	said("lasts:", length)
	for i, q := range f.Parameters {
		head := ""
		if i == 0 {
			head = "with:"
		}
		said(head, describeParameter(q))
	}
	fmt.Fprintln(w)
}

func describeParameter(q proxy.Parameter) string {
	kind := strings.ToUpper(string(q.Type))
	if len(q.Allowed) > 0 {
		kind = strings.Join(q.Allowed, "|")
	}
	text := fmt.Sprintf("%s=%s: %s", q.Name, kind, q.Words)
	if q.Default != "" {
		text += fmt.Sprintf(" (default %s)", q.Default)
	}
	return text
}
