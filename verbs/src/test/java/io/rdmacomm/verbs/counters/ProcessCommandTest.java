package io.rdmacomm.verbs.counters;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class ProcessCommandTest {
    @Test
    void theProgramComesFirst() {
        assertThat(ProcessCommand.shorten("/opt/rdmacomm/rdmacomm.jar bench --all"))
                .isEqualTo("rdmacomm bench --all");
        assertThat(ProcessCommand.shorten("jdk.compiler/com.sun.tools.javac.launcher.Main dir/Hello.java x"))
                .isEqualTo("Hello.java x");
        assertThat(ProcessCommand.shorten("org.example.Main")).isEqualTo("org.example.Main");
        assertThat(ProcessCommand.shorten("org.example/org.example.Main")).isEqualTo("org.example.Main");
        assertThat(ProcessCommand.shorten("")).isEmpty();
    }
}
