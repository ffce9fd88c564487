package handlersocket2.internal;

/** What a lane has counted. Its lock guards it. */
final class Counts {
    long requests;
    long replies;
    long bytesOut;
    long bytesIn;
    long writes;
    long reads;
}
