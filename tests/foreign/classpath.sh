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
