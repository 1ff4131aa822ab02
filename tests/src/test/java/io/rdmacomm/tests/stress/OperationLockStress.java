package io.rdmacomm.tests.stress;

import io.rdmacomm.verbs.service.OperationLock;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/// Two threads change a plain field under the lock: one takes the lock reentrantly, the other may find it taken.
@JCStressTest
@Outcome(id = "4, 1", expect = Expect.ACCEPTABLE, desc = "all four times")
@Outcome(id = "3, 0", expect = Expect.ACCEPTABLE, desc = "the lock was taken once")
@Outcome(expect = Expect.FORBIDDEN, desc = "two threads held the lock at once, or one missed what another wrote")
@State
public class OperationLockStress {
    private final OperationLock lock = new OperationLock();
    private int count;

    /// Takes the lock, and takes it again while it holds it.
    @Actor
    public void reentrant() {
        lock.lock();
        count++;
        lock.lock();
        count++;
        lock.unlock();
        lock.unlock();
    }

    /// Takes the lock, and then once more if it is free.
    @Actor
    public void ifFree(II_Result result) {
        lock.lock();
        count++;
        lock.unlock();
        if (lock.tryLock()) {
            count++;
            lock.unlock();
            result.r2 = 1;
        }
    }

    /// The sum of all.
    @Arbiter
    public void end(II_Result result) {
        result.r1 = count;
    }
}
