package proxy

import "strconv"

var apiError = Entry{
	Name:  "api-error",
	Where: "to the server, JetStream API requests",
	Words: "requests never reach the server and are answered with an error as the server would write it; pulls are not meant",
	Undo:  "requests reach the server again",
	Parameters: append([]Parameter{
		{Name: "err_code", Type: Count, Default: "10008", Words: "the error code: 10008 temporarily unavailable, 10026 consumer limit, 10014 consumer not found, 10059 stream not found, 10039 not enabled, 10023 insufficient resources, or any other with code and text"},
		{Name: "code", Type: Count, Words: "the code beside it, 400 to 599; that of the error code where it is a known one"},
		{Name: "text", Type: Text, Words: "the description; that of the error code where it is a known one"},
		{Name: "subject", Type: Subject, Words: "requests whose subject matches this: after the API prefix (CONSUMER.CREATE.>), or whole when it begins with $JS."},
	}, countSelection...),
	direction: Up,
	build: func(a *arguments) (effect, error) {
		e := &errorAnswerer{selection: newSelection(a), subject: apiPattern{argument[pattern](a, "subject")}}
		e.failure.ErrCode = int(argument[uint64](a, "err_code"))
		known := knownFailures[e.failure.ErrCode]
		e.failure.Code, e.failure.Description = known.code, known.text
		if a.has("code") {
			e.failure.Code = int(argument[uint64](a, "code"))
		}
		if a.has("text") {
			e.failure.Description = argument[string](a, "text")
		}
		switch {
		case e.failure.ErrCode > 65535:
			return nil, a.wrong("err_code", "want 1 to 65535")
		case e.failure.Code == 0:
			return nil, a.wrong("code", "it is needed beside err_code "+strconv.Itoa(e.failure.ErrCode)+", which is none of the known ones")
		case e.failure.Code < 400 || e.failure.Code > 599:
			return nil, a.wrong("code", "want 400 to 599")
		case e.failure.Description == "":
			return nil, a.wrong("text", "it is needed beside err_code "+strconv.Itoa(e.failure.ErrCode)+", which is none of the known ones")
		}
		return e, nil
	},
}

type errorAnswerer struct {
	*selection
	subject apiPattern
	failure apiFailure
}

func (e *errorAnswerer) judge(a *applied, f *flow, fr *frame) verdict {
	if !fr.publication() || !e.covers(f.c, fr) {
		return pass
	}
	subject := string(fr.subject)
	operation, ok := apiRequest(subject, f.c.know.apiPrefix)
	if !ok || !e.subject.matches(subject, operation) {
		return pass
	}
	answer, ok := e.failure.answer(operation, string(fr.reply))
	if !ok || !e.fires() {
		return pass
	}
	if answer.subject != "" {
		f.after(func() { f.c.deliver(answer, subject, nil) })
	}
	return verdict{fate: Dropped}
}
