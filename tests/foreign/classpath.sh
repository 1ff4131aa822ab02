# shellcheck shell=bash
# The class paths of programs of other projects. The caller is in the folder of the project, and JAVA_HOME is a JDK 25.

# Prints the class path of a suite, whose artifacts come from the Maven repository.
foreign_classpath() {
    local suite=$1 out=$2 version
    version=$(grep -A 1 '<artifactId>maven-dependency-plugin</artifactId>' pom.xml | sed -n 's|.*<version>\(.*\)</version>.*|\1|p')
    mvn -B -ntp -q -f "tests/foreign/$suite/pom.xml" "org.apache.maven.plugins:maven-dependency-plugin:$version:build-classpath" \
        "-Dmdep.outputFile=$out/$suite.classpath" >"$out/$suite.maven.log" 2>&1 ||
        { cat "$out/$suite.maven.log" >&2 && return 1; }
    cat "$out/$suite.classpath"
}

# Makes a folder in which Spark finds what its executors need, from its class path.
spark_home() {
    local jars jar
    rm -rf "$2"
    mkdir -p "$2/jars"
    touch "$2/RELEASE"
    IFS=: read -ra jars <<<"$1"
    for jar in "${jars[@]}"; do ln -s "$jar" "$2/jars/"; done
}
