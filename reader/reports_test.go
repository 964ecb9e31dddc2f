package reader_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/an-open-reader/nats-reader/chaos/plan"
)

// report is a way in which somebody's reader failed in production, where that is told,
// and the tests and bundled plans that stage it.
type report struct {
	happened string
	url      string
	tests    string
	plans    string
}

// reports are the public ones that concern a reader. One that is for a doctor alone (a
// server that sends nothing though all is well, a count that is wrong on a follower) is
// not here.
var reports = []report{
	// The stream or the consumer is gone.
	{"a stream is removed and made again under a durable", "https://github.com/centrifugal/centrifugo/pull/1166",
		"TestDurableOnARecreatedStream TestStreamMissingForAWhile", "field-durable-stream-recreated thirteen-d-stream-recreated"},
	{"an operator deletes the consumer", "https://github.com/nats-io/nats.py/issues/510",
		"TestConsumerDeletedIsReplacedAtOnce TestOrigin7ConsumerLevel404IsOrdinary", "thirteen-a-consumer-deleted origin-7"},
	{"a server with its store in memory is restarted", "https://github.com/kyma-project/kyma/issues/13609",
		"TestServerComesBackWithoutItsStream", ""},
	{"a consumer is made early and read late", "https://github.com/nats-io/nats.go/issues/1318",
		"TestDurableThatLapsedBeforeOpen TestLongCallerStaysAway", ""},
	{"the server takes the consumer from under a handler that is busy", "https://github.com/nats-io/nats.go/issues/1900",
		"TestHandlerBehindAFullBuffer TestCallerWhoStopsReadingLosesNothing", "field-handler-slower-than-threshold origin-6"},
	{"the same with one unacknowledged message allowed", "https://github.com/nats-io/nats.go/issues/1726",
		"TestHandlerSlowerThanTheThreshold TestDurableWaitsForAcks", ""},
	{"the consumer is deleted while no pull waits, and nothing tells", "https://github.com/nats-io/nats.net/issues/628",
		"TestConsumerDeletedWhileNoPullIsOut", "field-deleted-while-no-pull-waits"},
	{"another consumer has the name by then", "",
		"TestAnotherConsumerUnderTheName TestAnotherDurableUnderTheName TestNameTakenMeanwhile", ""},
	{"a 503 is taken for a message, and for life", "https://github.com/choria-io/stream-replicator/issues/161",
		"TestNoRespondersIsNoSignOfLife", "field-no-responders-is-no-life"},
	{"a deleted stream is asked for billions of times", "https://github.com/nats-io/nats.rs/issues/1561",
		"TestLimitsOfTheRateWithoutAStream TestLongStreamGoneForTenSeconds TestStreamDeletedForGoodIsFatalAfterItsGrace", "field-stream-gone-for-ten-seconds origin-8"},
	{"pulls pile up while there is no consumer", "https://github.com/nats-io/nats.net/issues/927",
		"TestNothingIsPulledWithoutAConsumer TestConsumerDeletedWhileNoPullIsOut", "field-nothing-is-pulled-without-a-consumer"},
	{"the stream is made only after the reader started", "https://github.com/dapr/components-contrib/issues/2145",
		"TestSubjectIsWaitedFor TestStreamIsWaitedFor", "field-stream-is-waited-for"},
	{"a stream is made again and numbered anew", "https://github.com/nats-io/nats-server/issues/6206",
		"TestRecreatedStreamIsReadFromItsFirstMessage TestPositionKeepsItsStream TestStreamsSourced", ""},
	{"servers come back and have forgotten the stream", "https://github.com/nats-io/nats-server/issues/6888",
		"TestStreamIsLostWithItsServer", "origin-8"},

	// The server is restarted, away or stands still.
	{"a hard restart, and then only \"consumer not found\"", "https://github.com/nats-io/nats.go/issues/1370",
		"TestServerKilledUnderAnIdleReader TestThirteenFaults TestLongServerKilledFiftyTimes", "field-server-killed thirteen-e-server-restarted"},
	{"a restart, and the consumer that survived it is in the way", "https://github.com/nats-io/nats.deno/issues/688",
		"TestNameThroughARestart TestServerKilledUnderAnIdleReader TestOriginDNamedReaderIsReplaced", "field-name-through-restarts"},
	{"a bucket's watch does not survive restarts", "https://github.com/nats-io/nats.go/issues/1094",
		"TestBucketThroughRestarts", "field-last-per-subject-through-restarts"},
	{"the loop around a watch spins while the server is away", "https://github.com/nats-io/nats.go/issues/1777",
		"TestAwayCostsNothing TestAwayAndOneMessage", "field-server-away-for-a-minute"},
	{"a rolling restart floods the log", "https://github.com/argoproj/argo-events/issues/3497",
		"TestAwayCostsNothing TestLongServerAwayForAMinute", "field-server-away-for-a-minute"},
	{"the connection gives up, and the loop neither ends nor fails", "https://github.com/nats-io/nats.net/issues/855",
		"TestConnectionThatGaveUp TestDeadLinkThatGivesUp", ""},
	{"the server is back, the closed connection stays, health is green", "https://github.com/redpanda-data/connect/issues/3312",
		"TestConnectionThatGaveUp", ""},
	{"pulls are not sent again after a reconnect", "https://github.com/nats-io/nats.py/issues/504",
		"TestServerStoppedAndStarted TestThirteenFaults", "thirteen-e-server-restarted"},
	{"a pull without an end or a heartbeat waits for ever", "https://github.com/nats-io/nats-server/issues/3991",
		"TestEveryPullEndsAndBeats TestBadInput", ""},
	{"calls without a limit hang on a server that stands still", "https://github.com/nats-io/nats.go/issues/1848",
		"TestOpensWhileTheServerStandsStill", "field-server-stands-still"},
	{"a full disk switches JetStream off", "https://github.com/kyma-project/kyma/issues/15220",
		"TestLimitsJetStreamSwitchedOffAndOn TestLongDiskFull", "field-jetstream-switched-off"},
	{"readers that are killed leave consumers for ever", "https://github.com/bbvch-ai/aihub-core/pull/1828",
		"TestKilledReadersLeaveNothingForLong", ""},

	// The link.
	{"a cut, and one message in it", "https://github.com/quarkiverse/quarkus-reactive-messaging-nats-jetstream/issues/376",
		"TestAwayAndOneMessage TestConnectionCutIsReplacedWithTheNewOne", "field-away-and-one-message thirteen-cut"},
	{"the link is dead for longer than the consumer may be idle", "https://github.com/nats-io/nats.go/issues/1972",
		"TestConsumerReapedBehindADeadLink TestLongConsumerReapedBehindADeadLink", "field-consumer-reaped-behind-a-dead-link"},
	{"a half-open link is not noticed", "https://github.com/nats-io/nats.py/issues/671",
		"TestServerStandsStill TestDeadLinkIsMadeAnew TestDeadLinkOneWay", "field-server-stands-still field-one-way-link thirteen-hole"},
	{"a message is lost between server and client", "https://github.com/nats-io/nats.net/issues/980",
		"TestLostMessageInAFlowIsReadAgain TestLastMessageBeforeQuietIsFoundByTheHeartbeat", "thirteen-h-message-lost thirteen-g-last-before-quiet-lost"},
	{"a queue in the client overflows", "https://github.com/nats-io/nats.go/issues/2107",
		"TestSmallQueuesOfTheConnection TestReadAheadIsBoundedInBytes", "field-slow-handler"},

	// What is asked for, refused or denied.
	{"a message is larger than a pull may bring", "https://github.com/nats-io/nats.go/issues/1718",
		"TestLimitsSmallerThanAMessage TestMessageLargerThanMaxBytesIsReadAlone", "field-message-larger-than-pull"},
	{"the pull of a call that gave up takes the next message", "https://github.com/nats-io/nats.py/issues/933",
		"TestNextThatGaveUpTakesNothing TestPullOfAClosedReaderTakesNothing TestDurableReplacedLeavesNoPullThatSwallows", ""},
	{"more pulls than may wait", "https://github.com/nats-io/nats.py/issues/241",
		"TestOnePlaceForThreeReaders TestDurableThatLetsOnePullWaitSharedByThree", ""},
	{"a pull beyond the consumer's limits looks like a time-out", "https://github.com/nats-io/nats.java/issues/1194",
		"TestLimitsOfADurableAreKept TestLimitsOfADurableAreObeyed TestLimitsOfTheServerAreObeyed", ""},
	{"a denied create looks like a time-out", "https://github.com/nats-io/terraform-provider-jetstream/issues/148",
		"TestOpenWithoutCreatePermission TestPermissionDeniedAtOpen", "thirteen-perm"},
	{"pulls that name no priority group, or not the pinned client's", "https://github.com/nats-io/nats.net/issues/1098",
		"TestPriorityGroupIsRefused TestPriorityGroupUnderTheReader", ""},
	{"the time it began at is sent with the sequence it goes on from", "https://github.com/nats-io/nats.go/issues/1281",
		"TestFromTimeThroughAReplacement", ""},
	{"a purge of one subject stops the others", "https://github.com/nats-io/nats.go/issues/1202",
		"TestPurgeOfOneSubjectLeavesTheOther TestNothingThatTheStreamHoldsIsPassedOver TestDurableTellsWhatWasPassedOver", "field-purge-of-one-subject"},
	{"a consumer is paused, and its server restarted", "",
		"TestPausedDurableThroughARestart TestPausedConsumerIsLeftAlone TestStreamsPausedConsumer TestPauseIsOverWhenItsTimeIs", "field-paused field-paused-through-a-restart"},
	{"the only slot is the one of the consumer to be replaced", "",
		"TestOriginCStreamWithoutASlotForTheReplacement TestNoSlotForAReplacement", "finding-c thirteen-f-one-slot-consumer-deleted"},

	// Acknowledging, and the end of a process.
	{"a process dies with messages in hand", "https://github.com/nats-io/nats-server/issues/6093",
		"TestReaderKilledAmidItsMessages", ""},
	{"a crashed reader of a work queue blocks its own restart", "https://github.com/nats-io/nats-server/issues/2368",
		"TestReaderKilledAmidItsMessages TestWorkQueueOfAnotherConsumer", ""},
	{"what a dead client held comes only after its ack wait", "https://github.com/nats-io/nats-server/issues/4627",
		"TestReaderKilledAmidItsMessages TestDurableGivesBackWhatWasNotHandedOut", ""},
	{"a drain ends before the handlers do", "https://github.com/nats-io/nats.go/issues/1672",
		"TestDrainAtTheEndOfAProcess TestDrainedDurableRedeliversNothing TestDrainEndsWithItsContext", ""},

	// Clusters and leaf nodes.
	{"a leader steps down, and nothing is pulled any more", "https://github.com/nats-io/nats.go/issues/2063",
		"TestCluster TestClusterLongStepDowns", "cluster-step-downs"},
	{"the cluster bounces while a reset is under way", "https://github.com/nats-io/nats.go/issues/1033",
		"TestClusterLongBounced", "cluster-bounced"},
	{"\"insufficient resources\" while the stream's only node is down", "https://github.com/nats-io/nats.go/issues/1216",
		"TestPlacementRefused TestClusterLongOnlyReplicaAway", "cluster-kill-only-replica"},
	{"the consumer of the node before stays alive", "https://github.com/nats-io/nats-server/issues/5352",
		"TestClusterLongNodeOfTheClient", "cluster-kill-own-node"},
	{"a rolling restart of streams in memory repeats messages", "https://github.com/nats-io/nats-server/issues/3006",
		"TestCluster TestClusterLongRollingRestart", "cluster-rolling-restart cluster-rolling-restart-r1"},
	{"nothing comes over a leaf node after a restart", "https://github.com/nats-io/nats-server/issues/3024",
		"TestReadsOverALeafNode TestOpenInADomainThatIsNotThere TestStreamsReachedByPrefix", ""},
}

// Every report is staged by tests that are there, under whatever build tag, and the
// plans that are named are there, too.
func TestReportsAreStaged(t *testing.T) {
	files, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	there := map[string]bool{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`(?m)^func (Test\w+)\(t \*testing\.T\)`).FindAllSubmatch(text, -1) {
			there[string(m[1])] = true
		}
	}
	told := map[string]bool{}
	for _, r := range reports {
		if told[r.url] && r.url != "" || r.tests == "" {
			t.Errorf("%s: %s is there twice, or nothing stages it", r.happened, r.url)
		}
		told[r.url] = true
		for _, name := range strings.Fields(r.tests) {
			if !there[name] {
				t.Errorf("%s: there is no %s", r.happened, name)
			}
		}
		for _, name := range strings.Fields(r.plans) {
			if _, err := plan.Find(name); err != nil {
				t.Errorf("%s: %v", r.happened, err)
			}
		}
	}
}
