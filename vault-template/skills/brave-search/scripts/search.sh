#!/usr/bin/env bash
# Searches the web: search.sh QUERY [COUNT]. The key comes from the environment and goes to Brave alone.
set -euo pipefail
query=${1:?what to look for}
count=${2:-5}
printf 'X-Subscription-Token: %s\n' "$BRAVE_API_KEY" |
  curl --silent --show-error --fail-with-body --max-time 20 --get \
    --header @- --header 'Accept: application/json' \
    --data-urlencode "q=$query" --data-urlencode "count=$count" \
    https://api.search.brave.com/res/v1/web/search
