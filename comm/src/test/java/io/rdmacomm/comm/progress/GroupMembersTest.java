package io.rdmacomm.comm.progress;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.verbs.Completions;
import io.rdmacomm.verbs.RdmaException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

final class GroupMembersTest {
    private final GroupMembers members = new GroupMembers(2);

    private static final class Member implements GroupMember {
        private int troubles;
        private int failures;
        private int ended;

        @Override
        public boolean hasEnded() {
            return ended != 0;
        }

        @Override
        public int finishEnded() {
            int count = ended;
            ended = 0;
            if (count < 0) {
                throw new IllegalStateException("on purpose");
            }
            return count;
        }

        @Override
        public void completed(Completions completions, int index, long workId) {}

        @Override
        public void received(Completions completions, int index, int receive) {}

        @Override
        public void failed(RdmaException why) {
            if (troubles-- > 0) {
                throw new OutOfMemoryError("on purpose");
            }
            failures++;
        }
    }

    @Test
    void workLeadsToTheMemberThatPostedIt() {
        Member one = new Member();
        Member two = new Member();
        long first = members.join(one, "group");
        long second = members.join(two, "group");

        assertThat(members.of(WorkId.send(first, 99))).isSameAs(one);
        assertThat(members.of(WorkId.receive(second, 3))).isSameAs(two);
    }

    @Test
    void aLateCompletionFindsNeitherItsMemberNorItsSuccessor() {
        long first = members.join(new Member(), "group");
        members.leave(first);
        assertThat(members.of(WorkId.send(first, 0))).isNull();
        long second = members.join(new Member(), "group");

        assertThat(WorkId.slot(second)).isEqualTo(WorkId.slot(first));
        assertThat(members.of(WorkId.send(first, 0))).isNull();
        assertThat(members.of(WorkId.send(second, 0))).isNotNull();
    }

    @Test
    void noMemberEverHasTheNumbersOfSharedReceives() {
        for (int i = 0; i <= 2 * WorkId.MAX_GENERATIONS; i++) {
            long base = members.join(new Member(), "group");
            assertThat(WorkId.isSharedReceive(WorkId.receive(base, i))).isFalse();
            assertThat(members.of(WorkId.sharedReceive(i))).isNull();
            members.leave(base);
        }
    }

    @Test
    void thereIsNoRoomForMoreThanWereAgreedOn() {
        var _ = members.join(new Member(), "group");
        var _ = members.join(new Member(), "group");

        assertThatThrownBy(() -> members.join(new Member(), "the group"))
                .isInstanceOf(RdmaException.class)
                .hasMessageContaining("the group has its 2 channels");
    }

    @Test
    void operationsThatHadEndedAreFound() {
        Member one = new Member();
        Member bad = new Member();
        long first = members.join(one, "group");
        members.watch(members.join(bad, "group"), bad);
        one.ended = 1;
        assertThat(members.haveEnded())
                .as("in a member that is still being constructed")
                .isFalse();
        one.ended = 0;
        members.watch(first, one);
        assertThat(members.haveEnded()).isFalse();
        assertThat(members.finishEnded()).isZero();

        one.ended = 3;
        bad.ended = -1;

        assertThat(members.haveEnded()).isTrue();
        assertThat(members.finishEnded()).as("with the trouble").isEqualTo(4);
        assertThat(members.haveEnded()).isFalse();
        tell();
        assertThat(bad.failures).as("a handler that cannot be called").isEqualTo(1);
        assertThat(one.failures).isZero();

        one.ended = 1;
        members.leave(first);
        assertThat(members.haveEnded()).as("after it has left").isFalse();
    }

    /// The others end with completions.
    @Test
    void onlyTheFirstMembersAreWatched() {
        GroupMembers many = new GroupMembers(20);
        List<Boolean> watched = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            Member member = new Member();
            member.ended = 1;
            long number = many.join(member, "group");
            many.watch(number, member);
            watched.add(GroupMembers.isWatched(number));
        }

        assertThat(watched.subList(0, 8)).containsOnly(true);
        assertThat(watched.subList(8, 20)).containsOnly(false);
        assertThat(many.finishEnded()).isEqualTo(8);
    }

    private void tell() {
        members.failCondemned(why -> new RdmaException("lost", why));
    }

    @Test
    void allMembersFailTogether() {
        Member one = new Member();
        Member left = new Member();
        var _ = members.join(one, "group");
        members.leave(members.join(left, "group"));

        members.condemnAll(new IllegalStateException("on purpose"));
        tell();

        assertThat(one.failures).isEqualTo(1);
        assertThat(left.failures).isZero();
        assertThat(members.areCondemned()).isFalse();
    }

    @Test
    void aMemberThatCouldNotFailForLackOfMemoryFailsLater() {
        Member member = new Member();
        member.troubles = 2;
        members.condemn(members.join(member, "group"), new OutOfMemoryError("on purpose"));

        assertThatThrownBy(this::tell).isInstanceOf(OutOfMemoryError.class);
        assertThatThrownBy(this::tell).isInstanceOf(OutOfMemoryError.class);
        assertThat(members.areCondemned()).isTrue();
        tell();

        assertThat(member.failures).isEqualTo(1);
        assertThat(members.areCondemned()).isFalse();
    }

    @Test
    void aSuccessorDoesNotFailInPlaceOfTheMemberBefore() {
        long first = members.join(new Member(), "group");
        members.condemn(first, new OutOfMemoryError("on purpose"));
        members.leave(first);
        Member successor = new Member();
        var _ = members.join(successor, "group");
        members.condemn(first, new OutOfMemoryError("late"));

        tell();

        assertThat(successor.failures).isZero();
    }
}
