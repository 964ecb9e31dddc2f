package proxy

import "encoding/json"

// apiFailure is the error of an answer of the JetStream API.
type apiFailure struct {
	Code        int    `json:"code"`
	ErrCode     int    `json:"err_code"`
	Description string `json:"description"`
}

// knownFailures are the errors that a client has to reckon with, as servers write them.
var knownFailures = map[int]struct {
	code int
	text string
}{
	10002: {400, "resource limits exceeded for account"},
	10003: {400, "bad request"},
	10008: {503, "JetStream system temporarily unavailable"},
	10009: {500, "JetStream cluster can not handle request"},
	10010: {503, "JetStream clustering support required"},
	10013: {400, "consumer name already in use"},
	10014: {404, "consumer not found"},
	10023: {503, "insufficient resources"},
	10026: {400, "maximum consumers limit reached"},
	10027: {400, "maximum number of streams reached"},
	10037: {404, "no message found"},
	10039: {503, "JetStream not enabled for account"},
	10047: {500, "insufficient storage resources available"},
	10059: {404, "stream not found"},
	10074: {500, "replicas > 1 not supported in non-clustered mode"},
	10076: {503, "JetStream not enabled"},
	10101: {400, "consumer must be deliver all on workqueue stream"},
	10148: {400, "consumer already exists"},
	10149: {400, "consumer does not exist"},
}

const responseType = "io.nats.jetstream.api.v1."

// apiResponses says of each operation what type its answer has, and which members a server writes behind the error.
// What answers otherwise than with JSON, a pull or a direct get, is not here.
var apiResponses = []struct {
	operation  pattern
	response   string
	rest       string
	byConsumer bool // the consumer's own loop answers, with a reply subject that is empty
}{
	{"INFO", "account_info", "", false},
	{"STREAM.CREATE.*", "stream_create", "", false},
	{"STREAM.UPDATE.*", "stream_update", "", false},
	{"STREAM.NAMES", "stream_names", `,"total":0,"offset":0,"limit":0,"streams":null`, false},
	{"STREAM.LIST", "stream_list", `,"total":0,"offset":0,"limit":0,"streams":[]`, false},
	{"STREAM.INFO.*", "stream_info", `,"total":0,"offset":0,"limit":0`, false},
	{"STREAM.DELETE.*", "stream_delete", "", false},
	{"STREAM.PURGE.*", "stream_purge", `,"purged":0`, false},
	{"STREAM.SNAPSHOT.*", "stream_snapshot", "", false},
	{"STREAM.RESTORE.*", "stream_restore", `,"deliver_subject":""`, false},
	{"STREAM.MSG.DELETE.*", "stream_msg_delete", "", false},
	{"STREAM.MSG.GET.*", "stream_msg_get", "", false},
	{"STREAM.PEER.REMOVE.*", "stream_remove_peer", "", false},
	{"STREAM.LEADER.STEPDOWN.*", "stream_leader_stepdown", "", false},
	{"CONSUMER.CREATE.>", "consumer_create", "", false},
	{"CONSUMER.DURABLE.CREATE.*.*", "consumer_create", "", false},
	{"CONSUMER.NAMES.*", "consumer_names", `,"total":0,"offset":0,"limit":0,"consumers":[]`, false},
	{"CONSUMER.LIST.*", "consumer_list", `,"total":0,"offset":0,"limit":0,"consumers":[]`, false},
	{"CONSUMER.INFO.*.*", "consumer_info", "", false},
	{"CONSUMER.DELETE.*.*", "consumer_delete", "", false},
	{"CONSUMER.PAUSE.*.*", "consumer_pause", `,"paused":false,"pause_until":"0001-01-01T00:00:00Z"`, false},
	{"CONSUMER.RESET.*.*", "consumer_reset", `,"reset_seq":0`, true},
	{"CONSUMER.UNPIN.*.*", "consumer_unpin", "", false},
	{"CONSUMER.LEADER.STEPDOWN.*.*", "consumer_leader_stepdown", "", false},
}

// answer writes the whole answer to an operation. ok is false for one that is not answered with JSON.
func (e apiFailure) answer(operation, reply string) (m message, ok bool) {
	for _, r := range apiResponses {
		if r.operation.matches(operation) {
			failure, err := json.Marshal(e)
			return message{
				subject: reply, blankReply: r.byConsumer,
				payload: `{"type":"` + responseType + r.response + `_response","error":` + string(failure) + r.rest + `}`,
			}, err == nil
		}
	}
	return message{}, false
}
