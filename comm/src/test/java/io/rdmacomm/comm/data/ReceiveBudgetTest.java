package io.rdmacomm.comm.data;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.verbs.RdmaException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

final class ReceiveBudgetTest {
    private final ReceiveBudget budget = new ReceiveBudget(100, 5, 4);

    private ReceiveClaim admit(int most) {
        ReceiveClaim claim = budget.admit(most);
        claim.window = most;
        return claim;
    }

    private void takeAll(ReceiveClaim claim) {
        while (budget.mayGive(claim)) {
            budget.give(claim);
        }
    }

    @Test
    void aNewChannelHasItsGuaranteedReceives() {
        ReceiveClaim claim = budget.admit(64);

        assertThat(claim.held).isEqualTo(4);
        assertThat(budget.mayGive(claim)).as("more only when it needs more").isFalse();
        assertThat(budget.lent()).isZero();
        assertThat(budget.uncommitted(0)).isEqualTo(96);
        assertThat(budget.uncommitted(10)).isEqualTo(86);
    }

    @Test
    void oneChannelBorrowsHalfOfWhatCanBeLent() {
        ReceiveClaim greedy = admit(100);
        takeAll(greedy);

        assertThat(greedy.held).isEqualTo(4 + 40);
        assertThat(budget.lendable()).isEqualTo(40);
    }

    @Test
    void greedyChannelsLeaveSomethingForTheNext() {
        List<ReceiveClaim> all = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            ReceiveClaim claim = admit(100);
            takeAll(claim);
            all.add(claim);
        }

        assertThat(all).extracting(claim -> claim.held).containsExactly(44, 24, 14, 9, 7);
        assertThat(budget.lendable()).isPositive();
    }

    @Test
    void aChannelNeverHasMoreThanItsOwnLimit() {
        ReceiveClaim modest = admit(6);
        takeAll(modest);
        assertThat(modest.held).isEqualTo(6);
    }

    @Test
    void theGuaranteedReceivesAreThereHoweverMuchIsLent() {
        ReceiveClaim greedy = admit(100);
        takeAll(greedy);
        ReceiveClaim late = admit(100);
        for (int i = 0; i < 4; i++) {
            budget.takeBack(late);
        }

        for (int i = 0; i < 4; i++) {
            assertThat(budget.mayGive(late)).isTrue();
            budget.give(late);
        }
        assertThat(budget.uncommitted(0)).isNotNegative();
    }

    @Test
    void oneChannelTooManyIsRefused() {
        for (int i = 0; i < 5; i++) {
            budget.admit(8);
        }
        assertThatThrownBy(() -> budget.admit(8))
                .isInstanceOf(RdmaException.class)
                .hasMessageContaining("no room for another channel: 5 of 5 are open")
                .hasMessageContaining("SharedReceives.channels");
    }

    @Test
    void messagesThatAreKeptAfterTheirChannelTakeThePlaceOfANewOne() {
        // All is guaranteed, nothing can be lent.
        ReceiveBudget tight = new ReceiveBudget(8, 2, 4);
        ReceiveClaim gone = tight.admit(4);
        tight.end(gone, 3);
        ReceiveClaim other = tight.admit(4);

        assertThat(tight.open()).isEqualTo(1);
        assertThatThrownBy(() -> tight.admit(4))
                .isInstanceOf(RdmaException.class)
                .hasMessageContaining("messages of other channels hold all shared receives");
        tight.takeBack(gone);
        assertThat(tight.admit(4).held).isEqualTo(other.held);
    }

    @Test
    void whatAnEndedChannelHadCanBeLentAgain() {
        ReceiveClaim greedy = admit(100);
        takeAll(greedy);
        budget.end(greedy, 30);

        assertThat(greedy.held).as("kept messages").isEqualTo(14);
        assertThat(budget.lent()).isEqualTo(14);
        assertThat(budget.mayGive(greedy)).isFalse();
        for (int i = 0; i < 14; i++) {
            budget.takeBack(greedy);
        }
        assertThat(budget.lent()).isZero();
        assertThat(budget.uncommitted(0)).isEqualTo(100);
    }

    @Test
    void noSequenceOfEventsBreaksAPromise() {
        long seed = System.nanoTime();
        System.out.println("seed " + seed);
        Random random = new Random(seed);
        for (int round = 0; round < 200; round++) {
            int channels = 1 + random.nextInt(6);
            int guaranteed = 1 + random.nextInt(4);
            int receives = channels * guaranteed + random.nextInt(40);
            run(random, new ReceiveBudget(receives, channels, guaranteed), receives, guaranteed);
        }
    }

    private static void run(Random random, ReceiveBudget tested, int receives, int guaranteed) {
        List<ReceiveClaim> open = new ArrayList<>();
        List<ReceiveClaim> ended = new ArrayList<>();
        for (int step = 0; step < 500; step++) {
            switch (random.nextInt(5)) {
                case 0 -> {
                    try {
                        ReceiveClaim claim = tested.admit(guaranteed + random.nextInt(30));
                        claim.window = claim.most;
                        open.add(claim);
                    } catch (RdmaException e) {
                        assertThat(e).hasMessageContaining("shared receives");
                    }
                }
                case 1 -> {
                    if (!open.isEmpty() && random.nextInt(4) == 0) {
                        ReceiveClaim claim = open.remove(random.nextInt(open.size()));
                        tested.end(claim, random.nextInt(claim.held + 1));
                        ended.add(claim);
                    }
                }
                case 2 -> any(random, ended).ifPresent(tested::takeBack);
                case 3 -> any(random, open).ifPresent(tested::takeBack);
                default -> {
                    for (ReceiveClaim claim : open) {
                        if (tested.mayGive(claim)) {
                            tested.give(claim);
                        }
                    }
                }
            }
            int held = open.stream().mapToInt(claim -> claim.held).sum()
                    + ended.stream().mapToInt(claim -> claim.held).sum();
            int promised = open.stream()
                            .mapToInt(claim -> Math.max(claim.held, guaranteed))
                            .sum()
                    + ended.stream().mapToInt(claim -> claim.held).sum();
            assertThat(tested.uncommitted(0)).isEqualTo(receives - held).isNotNegative();
            assertThat(promised).as("what is there and what is guaranteed").isLessThanOrEqualTo(receives);
            assertThat(open).allMatch(claim -> claim.held >= guaranteed || tested.mayGive(claim));
        }
    }

    private static java.util.Optional<ReceiveClaim> any(Random random, List<ReceiveClaim> claims) {
        List<ReceiveClaim> holding =
                claims.stream().filter(claim -> claim.held > 0).toList();
        return holding.isEmpty()
                ? java.util.Optional.empty()
                : java.util.Optional.of(holding.get(random.nextInt(holding.size())));
    }
}
