# shellcheck shell=bash
# A driver of Spark and two executors, unmodified: jobs give the same results with and without RDMA, and when an executor
# is killed.

spark() {
    local path status=0 way
    path=$(classpath spark)
    rm -rf "$out/spark-classes"
    "$JAVA_HOME/bin/javac" -proc:none -nowarn -d "$out/spark-classes" -cp "$path" "$here/spark/Shuffles.java" \
        >"$out/spark-javac.log" 2>&1 || { cat "$out/spark-javac.log" && return 1; }
    spark_home "$path" "$out/spark-home"
    for way in plain rdma killed; do jobs_of_spark "$way" || status=1; done
    for way in rdma killed; do
        if ! diff "$out/spark-plain.txt" "$out/spark-$way.txt"; then
            echo "[ERROR] foreign: spark: the results differ: plain, and $way"
            status=1
        fi
    done
    rm -rf "$out/spark-home"
    return $status
}

# Runs the jobs in a driver, whose executors inherit the environment.
jobs_of_spark() {
    local way=$1 log=$out/spark-$1.log options=()
    local environment=(SPARK_HOME="$out/spark-home" SPARK_SCALA_VERSION=2.13 SPARK_LOCAL_IP=127.0.0.1)
    [[ $way == plain ]] || environment+=(JDK_JAVA_OPTIONS="${over_rdma[*]}")
    [[ $way != killed ]] || options+=(kill)
    if ! timeout 300 env "${environment[@]}" "$JAVA_HOME/bin/java" -Xmx1g -XX:+UseSerialGC -Dio.netty.transport.noNative=true \
        -cp "$out/spark-classes:$path" Shuffles "${options[@]}" >"$log" 2>&1; then
        echo "[ERROR] foreign: spark: $way: failed; see $log"
        return 1
    fi
    grep -E '^(group|sort|join) ' "$log" >"$out/spark-$way.txt"
    echo "foreign: spark: $way: $(wc -l <"$out/spark-$way.txt") jobs$(sed -n 's/^failed tasks: /, failed tasks: /p' "$log")"
    [[ $way != killed ]] || grep -qE '^failed tasks: [1-9]' "$log" ||
        { echo "[ERROR] foreign: spark: no task has noticed the kill; see $log" && return 1; }
}
