# shellcheck shell=bash
# A Kafka broker and its clients.

kafka() {
    local path port data=$out/kafka-data count=200000 status=0
    [[ ! $short ]] || count=20000
    path=$(classpath kafka)
    port=$((20000 + RANDOM % 10000))
    rm -rf "$data"
    mkdir -p "$data"
    cat >"$data/server.properties" <<END
process.roles=broker,controller
node.id=1
listeners=PLAINTEXT://127.0.0.1:$port,CONTROLLER://127.0.0.1:$((port + 1))
advertised.listeners=PLAINTEXT://127.0.0.1:$port,CONTROLLER://127.0.0.1:$((port + 1))
controller.listener.names=CONTROLLER
controller.quorum.bootstrap.servers=127.0.0.1:$((port + 1))
log.dirs=$data/logs
num.partitions=3
offsets.topic.replication.factor=1
group.initial.rebalance.delay.ms=0
END
    "$JAVA_HOME/bin/java" -cp "$path" kafka.tools.StorageTool format --standalone -t 4L6g3nShT-eMCtK--X86sw \
        -c "$data/server.properties" >"$out/kafka.log" 2>&1 || { cat "$out/kafka.log" && return 1; }
    { with_broker "$path" "$port" first produce consume share && with_broker "$path" "$port" second consume; } || status=1
    rm -rf "$data"
    return $status
}

# Starts a broker, runs steps of the program, and stops the broker. Each group of consumers reads all records.
with_broker() {
    local path=$1 port=$2 life=$3 broker step log status=0
    shift 3
    log=$out/kafka-$life
    "${java[@]}" -cp "$path" kafka.Kafka "$out/kafka-data/server.properties" >"$log.broker.log" 2>&1 &
    broker=$!
    await_server kafka $broker 'Kafka Server started' "$log.broker.log" || return 1
    for step in "$@"; do
        if timeout 200 "${java[@]}" -cp "$path" "$here/kafka/Records.java" "$step" "127.0.0.1:$port" "$count" "$life" \
            >"$log.$step.log" 2>&1; then
            grep '^[a-z]*: [0-9]* records' "$log.$step.log" | sed 's/^/foreign: kafka: /'
        else
            echo "[ERROR] foreign: kafka: $step failed; see $log.$step.log"
            status=1
        fi
    done
    kill $broker
    wait $broker 2>/dev/null || true
    return $status
}
