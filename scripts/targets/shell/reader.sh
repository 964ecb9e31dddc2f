#!/bin/sh
# A target of nats-reader chaos: a shell pipeline around `nats-reader read`, which must
# be in PATH or named by NATS_READER. It prints the first word of each message as a
# line, at once: a pipeline shows nothing of what a program in it keeps in a buffer.
set -eu

: "${NATS_URL:?says where to connect}" "${NATS_READER_STREAM:?says what to read}"
set -f # a subject may hold a star
# shellcheck disable=SC2086 # the subjects are words
set -- "$NATS_READER_STREAM" ${NATS_READER_SUBJECT-}
if [ -n "${NATS_READER_DURABLE-}" ]; then
	set -- --durable "$NATS_READER_DURABLE" "$@"
fi

"${NATS_READER:-nats-reader}" read "$@" | while read -r id _; do
	printf '%s\n' "$id"
done
echo "nats-reader has ended" >&2
exit 1
