# shellcheck shell=bash
# A driver of Spark and two executors: jobs give the same results with plain sockets, over RDMA sockets, and with the
# plug-in (see docs/49-spark.md), also when an executor is killed.

spark() {
    local path library way status=0 ways=(plain rdma killed plugin)
    [[ $short ]] || ways+=(plugin-killed plugin-scarce plugin-secret plugin-encrypted)
    path=$(classpath spark)
    library=$(library_jar) || return 1
    compile_for_spark spark-classes "$path" "$here/spark/Shuffles.java" &&
        compile_for_spark spark-plugin "$library:$path" "$here"/spark/plugin/io/rdmacomm/examples/spark/*.java || return 1
    spark_home "$path" "$out/spark-home"
    for way in "${ways[@]}"; do jobs_of_spark "$way" || status=1; done
    for way in "${ways[@]:1}"; do
        if ! diff "$out/spark-plain.txt" "$out/spark-$way.txt"; then
            echo "[ERROR] foreign: spark: the results differ: plain, and $way"
            status=1
        fi
    done
    rm -rf "$out/spark-home"
    return $status
}

# Compiles sources to a folder.
compile_for_spark() {
    rm -rf "${out:?}/$1"
    "$JAVA_HOME/bin/javac" -proc:none -nowarn -d "$out/$1" -cp "$2" "${@:3}" >"$out/$1.log" 2>&1 ||
        { cat "$out/$1.log" && return 1; }
}

# Runs the jobs in a driver, whose executors inherit the environment.
jobs_of_spark() {
    local way=$1 log=$out/spark-$1.log options=(-Dio.netty.transport.noNative=true) classes=$out/spark-classes arguments=()
    local environment=(SPARK_HOME="$out/spark-home" SPARK_SCALA_VERSION=2.13 SPARK_LOCAL_IP=127.0.0.1)
    case $way in
        rdma | killed) environment+=(JDK_JAVA_OPTIONS="${over_rdma[*]}") ;;
        plugin*)
            classes+=:$out/spark-plugin:$library
            options+=(-Dspark.shuffle.manager=io.rdmacomm.examples.spark.RdmaShuffleManager -Dspark.shuffle.rdma.device=soft0)
            ;;
    esac
    case $way in
        *killed) arguments+=(kill) ;;
        # Too little for the outputs of all jobs.
        *scarce) options+=(-Dspark.shuffle.rdma.memory=96m) ;;
        # Blocks that are encrypted on the disk may go over RDMA.
        *secret) options+=(-Dspark.authenticate=true -Dspark.authenticate.secret=not-so-secret-as-all-that
            -Dspark.network.crypto.enabled=true -Dspark.io.encryption.enabled=true) ;;
        *encrypted) options+=(-Dspark.authenticate=true -Dspark.authenticate.secret=not-so-secret-as-all-that
            -Dspark.network.crypto.enabled=true) ;;
    esac
    rm -rf "$out/spark-home/work" "$out/spark-$way-executors"
    if ! timeout 300 env "${environment[@]}" "$JAVA_HOME/bin/java" -Xmx1g -XX:+UseSerialGC "${options[@]}" \
        -cp "$classes:$path" Shuffles "${arguments[@]}" >"$log" 2>&1; then
        echo "[ERROR] foreign: spark: $way: failed; see $log"
        return 1
    fi
    mv "$out/spark-home/work" "$out/spark-$way-executors"
    grep -E '^(group|sort|join) ' "$log" >"$out/spark-$way.txt"
    judge_spark "$way" "$log" "$(said 'failed tasks' "$log")" "$(said 'remote blocks' "$log")"
}

# A number that the driver has printed.
said() { sed -n "s/^$1: //p" "$2"; }

# Checks who has failed, and how the blocks were read.
judge_spark() {
    local way=$1 log=$2 failed=$3 remote=$4 read wrong=
    read=$(blocks_by_read "$out/spark-$way-executors")
    echo "foreign: spark: $way: $(wc -l <"$out/spark-$way.txt") jobs, failed tasks: $failed, blocks from the other executor: $remote, of these by READ: $read"
    ((remote > 0)) || wrong='nothing has crossed the network'
    case $way in
        plugin | plugin-secret) ((read == remote)) || wrong='not all blocks have come by READ' ;;
        plugin-killed) ((read > 0)) || wrong='no block has come by READ' ;;
        plugin-scarce) ((read > 0 && read < remote)) || wrong='not some blocks have come by READ and others by TCP' ;;
        *) ((read == 0)) || wrong='blocks have come by READ' ;;
    esac
    case $way in
        *killed) ((failed > 0)) || wrong='no task has noticed the kill' ;;
        *) ((failed == 0)) || wrong='tasks have failed' ;;
    esac
    [[ ! $wrong ]] || { echo "[ERROR] foreign: spark: $way: $wrong; see $log and $out/spark-$way-executors" && return 1; }
}

# The sum of what the executors have logged at last.
blocks_by_read() {
    local executor sum=0 last
    for executor in "$1"/*/*/stderr; do
        last=$(sed -n 's/.*blocks by READ: \([0-9]*\)$/\1/p' "$executor" | tail -n 1)
        sum=$((sum + ${last:-0}))
    done
    echo $sum
}
