package io.rdmacomm.tests.steps;

/// What happens to a process, and when.
///
/// @param action what the process does
/// @param fault what happens to it
/// @param events whether the survivor sleeps until events come, instead of polling
/// @param step after which it happens, counted from 1
/// @param place where this step was when the steps were counted
record Case(PeerAction action, PeerFault fault, boolean events, int step, String place) {
    /// The cases that differ in the step only.
    String kind() {
        return action + " " + fault + (events ? " events" : " polling");
    }

    @Override
    public String toString() {
        return kind() + ", step " + step + " at " + place;
    }
}
