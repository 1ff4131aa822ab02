package io.rdmacomm.comm.progress;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

final class GroupTasksTest {
    private final GroupTasks tasks = new GroupTasks();
    private final List<String> ran = new ArrayList<>();

    @Test
    void tasksRunOnceInOrder() {
        assertThat(tasks.areWaiting()).isFalse();
        tasks.add(() -> ran.add("one"));
        tasks.add(() -> ran.add("two"));
        assertThat(tasks.areWaiting()).isTrue();

        tasks.run();
        tasks.run();

        assertThat(ran).containsExactly("one", "two");
        assertThat(tasks.areWaiting()).isFalse();
    }

    @Test
    void aTaskThatSubmitsItselfWaitsForTheNextRun() {
        tasks.add(this::again);

        tasks.run();
        assertThat(ran).containsExactly("again");
        assertThat(tasks.areWaiting()).isTrue();
        tasks.run();
        assertThat(ran).hasSize(2);
    }

    private void again() {
        ran.add("again");
        tasks.add(this::again);
    }

    @Test
    void aTaskThatThrowsDoesNotTakeTheOthersWithIt() {
        tasks.add(() -> {
            throw new IllegalStateException("the first");
        });
        tasks.add(() -> ran.add("second"));

        try {
            tasks.run();
        } catch (IllegalStateException e) {
            ran.add(e.getMessage());
        }
        tasks.run();

        assertThat(ran).containsExactly("the first", "second");
        assertThat(tasks.areWaiting()).isFalse();
    }
}
