#!/bin/sh
# An agent of the shell: the model replies `SEARCH words` as often as it likes, then `ANSWER text`.
set -eu
field() { python3 -c 'import functools, json, sys
print(functools.reduce(lambda value, key: value[int(key) if key.isdigit() else key], sys.argv[1:], json.load(sys.stdin)))' "$@"; }
object() { python3 -c 'import json, sys; print(json.dumps(eval(sys.argv[1], {"text": sys.argv[2:]})))' "$@"; }
post() { curl --silent --show-error --fail --header 'Content-Type: application/json' --data @- "$@"; }

prompt="Reply with one line: \`SEARCH words\` to search Wikipedia, or \`ANSWER text\` with a few words once you know them.
Question: $(field question)"
for _ in 1 2 3 4 5; do
    reply=$(object '{"model": text[0], "messages": [{"role": "user", "content": text[1]}]}' "$WIKITRAIL_MODEL" "$prompt" |
        post --header "Authorization: Bearer $OPENAI_API_KEY" "$OPENAI_BASE_URL/chat/completions" | field choices 0 message content)
    case $reply in SEARCH*) ;; *) echo "${reply#ANSWER }" && exit ;; esac
    prompt="$prompt
$reply
Observation: $(object '{"query": text[0]}' "${reply#SEARCH }" | post "$WIKITRAIL_TOOL_URL/search" | field observation)"
done
